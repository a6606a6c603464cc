# SPDX-License-Identifier: MIT
# gnuplot -c scaling.gp DIR
load system(sprintf("dirname '%s'", ARG0)).'/style.gp'
file = ARG1.'/scaling.csv'
set terminal svg size 1000,1000 dynamic background rgb 'white'
set output ARG1.'/scaling.svg'
set xlabel 'threads'
set ylabel 'million a second, sections of 50 cycles'
set logscale xy 2
set yrange [*:*]
set xtics norotate
set key vertical outside right top
set rmargin 35
names(kind) = system("awk -F, '$2 == \"".kind."\" && !seen[$1]++ \
	{ printf \"\\\"%s\\\" \", $1 }' '".file."'")
set multiplot layout 2,1
do for [kind in 'klock peer'] {
	set title kind
	plot for [name in names(kind)] file using \
		(strcol(1) eq name ? $3 : NaN):($5 / 1e6) every ::1 \
		with linespoints title name
}
unset multiplot
