"""What docs/equations.md shows is what happens."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "equations.md"


def test_the_examples_of_the_page():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(blocks) >= 8
    assert all(">>>" in block for block in blocks)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.summarize().failed == 0
