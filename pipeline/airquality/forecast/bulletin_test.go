package forecast

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"vayu/schema"
	"vayu/schema/naqi"
)

// warned counts the forecasts of a model of the published table of CPCB's bulletins.
type warned struct {
	n, same, hits200, false200, hits300, false300 int
	absolute, square                              float64
}

func (s *warned) add(forecast, came float64) {
	f, y := int(math.Floor(forecast+0.5)), int(came)
	s.n++
	s.absolute += math.Abs(float64(f - y))
	s.square += float64((f - y) * (f - y))
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&s.same, naqi.Category(max(f, 0)) == naqi.Category(y))
	count(&s.hits200, f > 200 && y > 200)
	count(&s.false200, f > 200 && y <= 200)
	count(&s.hits300, f > 300 && y > 300)
	count(&s.false300, f > 300 && y <= 300)
}

// leastSquares accumulates the sums of a regression on three predictors with an intercept.
type leastSquares struct {
	xx [4][4]float64
	xy [4]float64
}

func (l *leastSquares) add(x [4]float64, y float64) {
	for i := range x {
		l.xy[i] += x[i] * y
		for j := range x {
			l.xx[i][j] += x[i] * x[j]
		}
	}
}

// solve returns the coefficients, by elimination with the largest pivot.
func (l *leastSquares) solve() (b [4]float64) {
	m, y := l.xx, l.xy
	for i := range m {
		pivot := i
		for k := i + 1; k < len(m); k++ {
			if math.Abs(m[k][i]) > math.Abs(m[pivot][i]) {
				pivot = k
			}
		}
		m[i], m[pivot], y[i], y[pivot] = m[pivot], m[i], y[pivot], y[i]
		for k := range m {
			if k == i {
				continue
			}
			f := m[k][i] / m[i][i]
			for j := range m {
				m[k][j] -= f * m[i][j]
			}
			y[k] -= f * y[i]
		}
	}
	for i := range b {
		b[i] = y[i] / m[i][i]
	}
	return b
}

// pair is a day of a bulletin with predictors, and its target.
type pair struct {
	x    [4]float64 // 1, AQI of the base, of the day before, and mean of the last seven days
	came float64
}

// bulletinPairs returns the pairs of a horizon by day of the target. A missing day before counts as equal to the base.
func bulletinPairs(t *testing.T, horizon schema.Day) map[schema.Day][]pair {
	t.Helper()
	cities := map[string]map[schema.Day]float64{}
	for _, row := range table(t, "cpcb/bulletins_2024h1.csv") {
		aqi, err := strconv.ParseFloat(row["aqi"], 64)
		if err != nil {
			continue
		}
		if cities[row["city"]] == nil {
			cities[row["city"]] = map[schema.Day]float64{}
		}
		cities[row["city"]][day(t, row["date"])] = aqi
	}
	pairs := map[schema.Day][]pair{}
	for _, days := range cities {
		for target, came := range days {
			base, ok := days[target-horizon]
			if !ok {
				continue
			}
			before, ok := days[target-horizon-1]
			if !ok {
				before = base
			}
			sum, n := 0.0, 0.0
			for k := range schema.Day(7) {
				if v, ok := days[target-horizon-k]; ok {
					sum, n = sum+v, n+1
				}
			}
			pairs[target] = append(pairs[target], pair{[4]float64{1, base, before, sum / n}, came})
		}
	}
	return pairs
}

// TestPublishedTableOfTheBulletins repeats the measurement of persistence and of a regression on the AQI that the
// decision about the model cites. Each day's regression knows the targets of earlier days only.
func TestPublishedTableOfTheBulletins(t *testing.T) {
	t.Parallel()
	for i, want := range [...][2]warned{
		{{n: 33_370, hits200: 1347, false200: 1094, hits300: 88, false300: 147, absolute: 21.7, square: 34.0, same: 721}, {hits200: 1098, false200: 657, hits300: 30, false300: 33, absolute: 20.9, square: 31.1, same: 717}},
		{{n: 32_740, hits200: 1076, false200: 1333, hits300: 58, false300: 175, absolute: 27.0, square: 41.0, same: 661}, {hits200: 781, false200: 686, hits300: 12, false300: 29, absolute: 25.1, square: 36.0, same: 660}},
		{{n: 32_322, hits200: 994, false200: 1405, hits300: 46, false300: 186, absolute: 29.1, square: 43.5, same: 635}, {hits200: 666, false200: 642, hits300: 9, false300: 20, absolute: 26.7, square: 37.9, same: 640}},
	} {
		t.Run(fmt.Sprintf("%d h", 24*(i+1)), func(t *testing.T) {
			t.Parallel()
			horizon := schema.Day(i + 1)
			pairs := bulletinPairs(t, horizon)
			var fit leastSquares
			var persistence, regression warned
			known := day(t, "2024-01-01")
			for target := day(t, "2024-02-01") + horizon; target <= day(t, "2024-06-30"); target++ {
				for ; known < target-horizon; known++ {
					for _, p := range pairs[known] {
						fit.add(p.x, p.came)
					}
				}
				b := fit.solve()
				for _, p := range pairs[target] {
					persistence.add(p.x[1], p.came)
					regression.add(b[0]*p.x[0]+b[1]*p.x[1]+b[2]*p.x[2]+b[3]*p.x[3], p.came)
				}
			}
			want[1].n = want[0].n
			compare(t, "persistence", persistence, want[0])
			compare(t, "regression", regression, want[1])
		})
	}
}

func compare(t *testing.T, model string, got, want warned) {
	t.Helper()
	n := float64(got.n)
	mae, rmse, same := got.absolute/n, math.Sqrt(got.square/n), 1000*float64(got.same)/n
	t.Logf("%-11s n=%d MAE=%.2f RMSE=%.2f same category=%.1f %% >200: %d hits, %d false; >300: %d hits, %d false",
		model, got.n, mae, rmse, same/10, got.hits200, got.false200, got.hits300, got.false300)
	for _, c := range []struct {
		what             string
		got, want, digit float64
	}{
		{"MAE", mae, want.absolute, 0.05}, {"RMSE", rmse, want.square, 0.05}, {"days of the same category, per mille", same, float64(want.same), 0.5},
		{"pairs", n, float64(want.n), 0}, {"hits over 200", float64(got.hits200), float64(want.hits200), 0}, {"false alarms over 200", float64(got.false200), float64(want.false200), 0},
		{"hits over 300", float64(got.hits300), float64(want.hits300), 0}, {"false alarms over 300", float64(got.false300), float64(want.false300), 0},
	} {
		t.Run(model+" "+c.what, func(t *testing.T) {
			if math.Abs(c.got-c.want) > 0.005*c.want+c.digit {
				t.Errorf("got %.3f, want %.3f within 0.5 %%", c.got, c.want)
			}
		})
	}
}
