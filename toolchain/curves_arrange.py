# SPDX-License-Identifier: MIT
"""Which curves are one group, and where names stand: curves.py, without ink."""
import itertools


def apart(a, b):
    """How far two curves are from each other, where both are."""
    return max((abs(a[x] - b[x]) for x in a.keys() & b.keys()), default=1.0)


def groups_of(outlines, together, most):
    """Lists of names, the first of which is to be grey, or is empty. No two
    curves of a group are farther apart than that. Where there are more groups
    than most, those that differ least from the largest are grey with it."""
    groups = [[name] for name in outlines]

    def far(pair):
        return max(apart(outlines[a], outlines[b])
                   for a in pair[0] for b in pair[1])

    while len(groups) > 1:
        pair = min(itertools.combinations(groups, 2), key=far)
        if far(pair) > together:
            break
        groups.remove(pair[1])
        pair[0].extend(pair[1])
    grey = max(groups, key=len)
    if len(grey) < 3 and len(groups) <= most:
        return [[], *groups]
    groups.remove(grey)
    groups.sort(key=lambda group: far((grey, group)))
    while len(groups) > most:
        grey.extend(groups.pop(0))
    return [grey, *groups]


def spread(wanted, heights, least=0.0, most=1.0):
    """Middles near the wanted ones, which ascend, so that nothing overlaps."""
    blocks = []     # start, height, heights, sum of the starts it wants
    for middle, height in zip(wanted, heights):
        block = [middle - height / 2, height, [height], middle - height / 2]
        while True:
            start = block[3] / len(block[2])
            block[0] = max(least, min(start, most - block[1]))
            if not blocks or sum(blocks[-1][:2]) <= block[0]:
                break
            _, below, parts, total = blocks.pop()
            block = [0, below + block[1], parts + block[2],
                     total + block[3] - below * len(block[2])]
        blocks.append(block)
    middles = []
    for start, _, parts, _ in blocks:
        for height in parts:
            middles.append(start + height / 2)
            start += height
    return middles
