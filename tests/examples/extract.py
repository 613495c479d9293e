"""Prints the one code block of a language in a page: extract.py PAGE LANGUAGE."""

import pathlib
import re
import sys

page, language = sys.argv[1:]
blocks = re.findall(rf"^```{language}\n(.*?)^```$",
                    pathlib.Path(page).read_text(), re.MULTILINE | re.DOTALL)
if len(blocks) != 1:
    sys.exit(f"{page} has {len(blocks)} blocks of {language}, and should have one")
print(blocks[0], end="")
