"""A search in a process of its own, to be killed: python -m tests.search.run FOLDER LOG WORKERS [most bytes of a file]."""

import resource
import sys

import modurob as mr
from tests.search.tasks import Spread

SETTINGS = {"modules": (2, 5), "generations": 5, "population": 12, "seed": 3}

if __name__ == "__main__":
    folder, log, workers, *most = sys.argv[1:]
    if most:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(most[0]), int(most[0])))
    print(mr.search_designs("backbone", task=Spread(log, 0.05), folder=folder, workers=int(workers), **SETTINGS))
