"Tables of what is near solved, made once for all tests of a process. They are searched for, never read from a file."

from functools import cache

from cube_nb.cube.puzzle import get_puzzle
from cube_nb.depth.bfs import DistanceTable, bfs


@cache
def table_of(puzzle: str, depth: int) -> DistanceTable:
    "The distances of all states within `depth` moves of solved."
    return bfs(get_puzzle(puzzle), depth)
