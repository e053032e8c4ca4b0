package naqi

import (
	"fmt"
	"strings"

	"vayu/schema/air"
)

// Function is a ClickHouse SQL function, created by the statement CREATE FUNCTION Name AS Lambda.
type Function struct{ Name, Lambda string }

// Functions returns the index as SQL functions. For each pollutant, such as PM2.5, there are three. `naqi_pm25(x)`
// returns the sub-index of a concentration. `naqi_pm25_lead(x)` returns what the Go function [Lead] returns.
// `naqi_pm25_inverse(i)` returns the concentration of a sub-index. All three return NULL for NULL and for invalid
// input. `naqi_category(aqi)` is common to all pollutants, and returns NULL only for NULL.
func Functions() []Function {
	all := make([]Function, 0, 3*len(air.Pollutants)+1)
	for _, p := range air.Pollutants {
		all = append(all,
			Function{"naqi_" + p.String(), subIndexLambda(p)},
			Function{"naqi_" + p.String() + "_lead", leadLambda(p)},
			Function{"naqi_" + p.String() + "_inverse", inverseLambda(p)})
	}
	return append(all, Function{"naqi_category", categoryLambda()})
}

// subIndexLambda needs ifNull: multiIf takes NULL as false, and least() ignores NULL, so NULL would have the index 500.
func subIndexLambda(p air.Pollutant) string {
	edge := breakpoint[p]
	m := fmt.Sprintf("toInt64(floor(least(x, %g) * %d + 0.5))", float64(edge[6])/micro, int64(micro))
	var b strings.Builder
	b.WriteString("x -> toUInt16(multiIf(ifNull(NOT (x >= 0), 1), NULL")
	for band := 1; band < len(edge); band++ {
		width, rise := edge[band]-edge[band-1], indexEdge[band]-indexEdge[band-1]
		value := fmt.Sprintf("%d + intDiv(%d * (%s - %d) + %d, %d)", indexEdge[band-1], 2*rise, m, edge[band-1], width, 2*width)
		if band < len(edge)-1 {
			fmt.Fprintf(&b, ", %s <= %d, %s", m, edge[band], value)
		} else {
			fmt.Fprintf(&b, ", %s))", value)
		}
	}
	return b.String()
}

func leadLambda(p air.Pollutant) string {
	edge := breakpoint[p]
	var b strings.Builder
	b.WriteString("x -> multiIf(ifNull(NOT (x >= 0), 1), NULL")
	for band := 1; band < len(edge); band++ {
		from, to := float64(edge[band-1])/micro, float64(edge[band])/micro
		value := fmt.Sprintf("%d + (x - %g) * %d / %g", indexEdge[band-1], from, indexEdge[band]-indexEdge[band-1], to-from)
		if band < len(edge)-1 {
			fmt.Fprintf(&b, ", x <= %g, %s", to, value)
		} else {
			fmt.Fprintf(&b, ", %s)", value)
		}
	}
	return b.String()
}

func inverseLambda(p air.Pollutant) string {
	edge := breakpoint[p]
	const thousandth = micro / 1000
	var b strings.Builder
	fmt.Fprintf(&b, "i -> multiIf(ifNull(NOT (i >= 0 AND i <= %d), 1), NULL", MaxIndex)
	for band := 1; band < len(edge); band++ {
		width, rise := edge[band]-edge[band-1], indexEdge[band]-indexEdge[band-1]
		numerator := fmt.Sprintf("2 * (%d + %d * (toInt64(i) - %d)) + %d",
			edge[band-1]*rise, width, indexEdge[band-1], rise*thousandth)
		value := fmt.Sprintf("intDiv(%s, %d) / 1000", numerator, 2*rise*thousandth)
		if band < len(edge)-1 {
			fmt.Fprintf(&b, ", i <= %d, %s", indexEdge[band], value)
		} else {
			fmt.Fprintf(&b, ", %s)", value)
		}
	}
	return b.String()
}

func categoryLambda() string {
	var b strings.Builder
	b.WriteString("a -> multiIf(isNull(a), NULL")
	for i, name := range categories[:len(categories)-1] {
		fmt.Fprintf(&b, ", a <= %d, '%s'", indexEdge[i+1], name)
	}
	fmt.Fprintf(&b, ", '%s')", categories[len(categories)-1])
	return b.String()
}
