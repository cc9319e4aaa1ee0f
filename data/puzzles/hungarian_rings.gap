# Hungarian rings: 38 balls in two rings of 20, which share the balls 1 and 6. R and L turn a ring by one ball.
# The generators: Jamie Mulholland, Permutation Puzzles, http://www.sfu.ca/~jtmulhol/math302/puzzles-hr.html
# Ten black, ten red, nine yellow and nine blue balls, each colour in a row:
# http://www.jaapsch.net/puzzles/rings.htm
# 38! / (10!^2 9!^2) = 301,625,696,863,690,399,200 states: the balls can be put in any order.
R := (1,38,37,36,35,6,34,33,32,31,30,29,28,27,26,25,24,23,22,21);
L := (1,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2);
solved := [yellow, yellow, yellow, blue, blue, blue, blue, blue, black, black, black, black, black, black, black, black, black, black, yellow,
           yellow, yellow, yellow, red, red, red, red, red, red, red, red, red, red, blue, blue, blue, blue, yellow, yellow];
