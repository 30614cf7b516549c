"""What goes to one page: events at once, frames only as fast as the page draws them."""

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

from modurob.spatial.scalars import Array
from modurob.studio.protocol import Event, encode, frame

IN_FLIGHT = 3  # frames that are not acknowledged yet


class Channel:
    """A websocket with flow control: of the frames that had to wait, only the newest is sent."""

    def __init__(self, socket: WebSocket):
        self._socket = socket
        self._sending = asyncio.Lock()
        self._room = asyncio.Event()
        self._room.set()
        self._number = self._acknowledged = 0
        self._waiting: tuple[Array, Array] | None = None

    async def receive(self) -> str:
        """The next text of the page; WebSocketDisconnect when it has gone."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1006))
        return message.get("text") or ""

    async def send(self, event: Event | bytes) -> None:
        """Send an event, or bytes; WebSocketDisconnect when the page has gone."""
        async with self._sending:
            try:
                if isinstance(event, bytes):
                    await self._socket.send_bytes(event)
                else:
                    await self._socket.send_text(encode(event))
            except RuntimeError:  # what Starlette raises after a close
                raise WebSocketDisconnect(1006) from None

    async def show(self, X_WB: Array, sample: Array) -> None:
        """Send a frame now if there is room, else when there is, unless a newer one comes first."""
        if self._number - self._acknowledged >= IN_FLIGHT:
            self._waiting = X_WB, sample
            return
        self._waiting = None
        self._number += 1
        if self._number - self._acknowledged >= IN_FLIGHT:
            self._room.clear()
        await self.send(frame(self._number, X_WB, sample))

    async def acknowledge(self, number: int) -> None:
        """The page has drawn all frames up to this one."""
        self._acknowledged = max(self._acknowledged, min(number, self._number))
        self._room.set()
        if self._waiting is not None:
            await self.show(*self._waiting)

    async def room(self) -> None:
        """Wait until a frame can be sent."""
        await self._room.wait()
