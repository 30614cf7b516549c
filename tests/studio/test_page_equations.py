"""The Equations panel in a real browser: formulas, symbols, entries, numbers, and what lights up in the 3D view."""

import re

import numpy as np
from playwright.sync_api import expect

import modurob as mr
from tests.studio.pages import Page

ROBOT = mr.load("crab").mechanism()
EQUATIONS = ROBOT.equations(("masses", "lengths", "gravity"), avoid=ROBOT.frames)
MARK = re.compile(r"\\htmlData\{symbol=\w+\}\{((?:[^{}]|\{[^{}]*\})*)\}")  # what makes a symbol known to the pointer
LIT = "[...studio.view.lit]"


def copied(page: Page, text: str) -> None:
    page.until("async (text) => (await navigator.clipboard.readText()) === text", text)


def test_equations_appear_and_are_the_librarys(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Equations")
    expect(page.at(".equation .katex").first).to_be_visible()
    expect(page.at(".equation")).to_have_count(4)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    law = EQUATIONS.latex(shorthand=True)
    for button, text in (("latex", law), ("c", EQUATIONS.c()), ("python", EQUATIONS.python())):
        page.at(f"#copy-{button}").click()
        copied(page, text)
    # typeset as they are: KaTeX keeps the source beside the picture
    sources = page.js("[...document.querySelectorAll('.equation annotation')].map((x) => x.textContent)")
    for source in sources[1:]:
        assert MARK.sub(r"\1", source).replace(r"\\[5pt]", r"\\") in law


def test_equations_grow_with_the_robot(page: Page) -> None:
    page.panel("Equations")
    expect(page.at("#panel-equations")).to_contain_text("Nothing moves yet")
    page.js("studio.send('dock', {kind: 'backbone', at: 'm0/3', by: '4'})")
    expect(page.at("#panel-equations")).to_contain_text("coordinate of joint m0/hinge")
    page.js("studio.send('dock', {kind: 'backbone', at: 'm1/3', by: '4'})")
    expect(page.at("#panel-equations")).to_contain_text("coordinate of joint m1/hinge")


def test_symbols_are_a_table_and_light_their_bodies(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Equations")
    cells = page.at('tr[data-symbol="mb2"] > *')
    expect(cells).to_have_count(4)
    assert cells.all_inner_texts()[1:] == ["mass of body m2/B", "1", "kg"]
    page.at('tr[data-symbol="mb2"]').hover()
    page.until(f"{LIT}.join() === '2'")
    # and the axis of the joint that moves it
    assert page.js("studio.view.axes.joints.map(({name}) => name)") == ["m2/hinge"]
    page.at('.equation [data-symbol="mb3"]').first.hover()
    page.until(f"{LIT}.join() === '3'")
    page.at('tr[data-symbol="q1"]').focus()  # by keyboard, too
    page.until(f"{LIT}.join() === '1'")
    page.at("#facts").hover()
    page.js("document.activeElement.blur()")
    page.until(f"{LIT}.length === 0 && studio.view.axes.joints.length === 0")


def test_numbers_follow_the_pose_and_entries_are_copied(page: Page) -> None:
    page.open("crab", 6)
    page.panel("Equations")
    page.at('.matrix[data-part="M"] summary').click()
    page.js("studio.send('set_coordinate', {index: 1, value: 0.5})")
    M = ROBOT.mass_matrix(np.array([0, 0.5, 0]))
    entry = page.at('[data-entry="M 0 1"]')
    expect(entry).to_have_text(f"{M[0, 1]:.4g}")
    expect(page.at('tr[data-symbol="q2"]')).to_contain_text("0.5")
    shown = np.array([float(x) for x in page.at('[data-entry^="M "]').all_inner_texts()]).reshape(3, 3)
    assert np.allclose(shown, M, rtol=5e-4)
    entry.hover()
    page.until(f"{LIT}.join() === '1,2'")
    entry.click()
    opened = page.at('.entry[data-part="M"]')
    expect(opened.locator(".katex").first).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.get_by_role("button", name="Copy entry M 1, 2 as LaTeX").click()
    line = re.search(r"M_\{12\} = M_\{21\} = (.*?) \\\\", EQUATIONS.latex(shorthand=True))
    assert line is not None
    copied(page, f"M_{{12}} = {line[1]}")


def test_long_equations_are_read_entry_by_entry(page: Page) -> None:
    page.js("studio.send('open_shipped', {name: 'lwa4p'})")
    page.until("studio.state.design.name === 'lwa4p'")
    page.panel("Equations")
    expect(page.at("#panel-equations")).to_contain_text("choose an entry below")
    robot = mr.load("lwa4p").robot()
    q = robot.neutral()
    # it stands upright: what rounding leaves of the torques is zero
    expect(page.at('[data-entry="N 1 0"]')).to_have_text("0")
    q[1] = 0.5
    page.js("studio.send('set_coordinate', {index: 1, value: 0.5})")
    expect(page.at('[data-entry="N 1 0"]')).to_have_text(f"{robot.gravity_forces(q)[1]:.4g}")
    page.at('[data-entry="N 1 0"]').click()
    expect(page.at('.entry[data-part="N"] annotation')).to_contain_text("N_{2} =")
