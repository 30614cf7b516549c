"""python -m modurob"""

from modurob.cli import main

main()
