# SPDX-License-Identifier: MIT
# What all plots share. ARG1: the folder with the CSV files.
set datafile separator comma
set terminal svg size 1000,640 dynamic background rgb 'white'
set style fill solid 0.8 noborder
set boxwidth 0.8
set rmargin 8
set grid ytics lc rgb '#dddddd'
set xtics rotate by -50 noenhanced
set key noenhanced outside horizontal center top
set yrange [0:*]
set format y '%.1f'
klock = 0x2060a0; peer = 0xd08030; floor = 0x808080
colour(kind) = kind eq 'klock' ? klock : kind eq 'peer' ? peer : floor
kinds = 'klock peer floor'
said = '"klock" "other locks" "the floor: no lock at all"'
