package forecast

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// published are the figures of the damped anomaly that were measured before the model was built, over nine cities
// with PM2.5 from 2019-01-01 to 2020-02-29, fitted to the days before.
type published struct {
	dayWeight, weekWeight                  float64
	mae, persistenceMAE                    float64
	rmse, persistenceRMSE, climateRMSE     float64
	skill, coverage                        float64
	brier, persistenceBrier, climateBrier  float64
	hits, falseAlarms, persHits, persFalse uint64 // of Delhi
}

func TestPublishedTableOfTheDampedAnomaly(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.cityDays(archive(t))
	first, base, last := day(t, "2015-01-01"), day(t, "2018-12-31"), day(t, "2020-02-29")
	if err := w.prepare(t.Context(), "archive", Span{first, last}, false); err != nil {
		t.Fatal(err)
	}
	if err := w.fit(t.Context(), "archive", "archive", Span{first, base}, atMidnight(base)); err != nil {
		t.Fatal(err)
	}
	for i, want := range [...]published{
		{0.55, 0.13, 13.5, 14.0, 23.1, 25.3, 32.9, 16, 77.4, 0.031, 0.043, 0.053, 127, 34, 118, 26},
		{0.33, 0.18, 16.9, 18.9, 28.2, 33.1, 32.9, 28, 75.2, 0.040, 0.061, 0.053, 128, 48, 107, 38},
		{0.23, 0.17, 18.3, 21.3, 30.1, 37.4, 32.9, 35, 75.5, 0.043, 0.069, 0.053, 128, 51, 100, 46},
	} {
		t.Run(fmt.Sprintf("%d h", 24*(i+1)), func(t *testing.T) {
			got, n := w.measured(t, i+1, first, last, atMidnight(base))
			t.Logf("n=%d %+v", n, got)
			for _, c := range []struct {
				what      string
				got, want float64
				digit     float64 // half of the last digit of the published figure
			}{
				{"weight of the day", got.dayWeight, want.dayWeight, 0.005}, {"weight of the week", got.weekWeight, want.weekWeight, 0.005},
				{"MAE", got.mae, want.mae, 0.05}, {"MAE of persistence", got.persistenceMAE, want.persistenceMAE, 0.05},
				{"RMSE", got.rmse, want.rmse, 0.05}, {"RMSE of persistence", got.persistenceRMSE, want.persistenceRMSE, 0.05}, {"RMSE of climatology", got.climateRMSE, want.climateRMSE, 0.05},
				{"skill", got.skill, want.skill, 0.5}, {"coverage", got.coverage, want.coverage, 0.05},
				{"Brier", got.brier, want.brier, 0.0005}, {"Brier of persistence", got.persistenceBrier, want.persistenceBrier, 0.0005}, {"Brier of climatology", got.climateBrier, want.climateBrier, 0.0005},
			} {
				t.Run(c.what, func(t *testing.T) {
					if math.Abs(c.got-c.want) > 0.005*c.want+c.digit {
						t.Errorf("got %.4f, want %.4f within 0.5 %%", c.got, c.want)
					}
				})
			}
			for _, c := range []struct {
				what      string
				got, want uint64
			}{{"hits", got.hits, want.hits}, {"false alarms", got.falseAlarms, want.falseAlarms}, {"hits of persistence", got.persHits, want.persHits}, {"false alarms of persistence", got.persFalse, want.persFalse}} {
				t.Run(c.what+" of Delhi", func(t *testing.T) {
					if c.got != c.want {
						t.Errorf("got %d, want %d", c.got, c.want)
					}
				})
			}
		})
	}
}

// measured scores one fit on the days after 2018.
func (w *fixture) measured(t *testing.T, horizon int, first, last schema.Day, fitted time.Time) (p published, n uint64) {
	t.Helper()
	d := w.sql.data
	d.Length = int(last-first) + 1
	samples, err := d.write("samples.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := `WITH scored AS
(
    SELECT place, exp(target) AS y, exp(level) AS pers, exp(normal) AS clim, day_weight, week_weight, normal + day_weight * anomaly + week_weight * week AS centre, exp(centre) AS f,
        target BETWEEN centre + low AND centre + high AS covered,
        arrayCount(q -> exp(centre + q) > 120, own) / length(own) AS chance,
        arrayCount(q -> exp(normal + q) > 120, climate) / length(climate) AS usual
    FROM (SELECT *, ` + d.Season + ` AS season FROM (` + samples + `)) AS samples
    INNER JOIN (SELECT parameter, horizon, day_weight, week_weight FROM ` + w.name + `.forecast_fit) AS fit USING (parameter, horizon)
    INNER JOIN
    (
        SELECT place, parameter, horizon, season, anyIf(quantiles, model = 'damped_anomaly') AS own, anyIf(low, model = 'damped_anomaly') AS low, anyIf(high, model = 'damped_anomaly') AS high,
            anyIf(quantiles, model = 'climatology') AS climate
        FROM ` + w.name + `.forecast_residual WHERE place_kind = 'city' GROUP BY place, parameter, horizon, season
    ) AS spread USING (place, parameter, horizon, season)
    WHERE horizon = {horizon:UInt8} AND day BETWEEN '2019-01-01' AND '2020-02-29' AND NOT isNaN(centre + target)
)
SELECT count(), any(day_weight), any(week_weight), avg(abs(f - y)), avg(abs(pers - y)), sqrt(avg(pow(f - y, 2))), sqrt(avg(pow(pers - y, 2))), sqrt(avg(pow(clim - y, 2))),
    100 * (1 - avg(pow(f - y, 2)) / avg(pow(pers - y, 2))), 100 * avg(covered), avg(pow(chance - (y > 120), 2)), avg(pow((pers > 120) - (y > 120), 2)), avg(pow(usual - (y > 120), 2)),
    countIf(place = 'Delhi' AND y > 120 AND f > 120), countIf(place = 'Delhi' AND y <= 120 AND f > 120), countIf(place = 'Delhi' AND y > 120 AND pers > 120), countIf(place = 'Delhi' AND y <= 120 AND pers > 120)
FROM scored`
	err = w.scan(t.Context(), "the table", text, clickhouse.Parameters{
		"run": "archive", "input": "archive", "fitted": instantText(fitted), "known": instantText(atMidnight(last)), "first": dayText(first), "base": dayText(last), "slots": "[1]", "horizon": fmt.Sprint(horizon),
	}, &n, &p.dayWeight, &p.weekWeight, &p.mae, &p.persistenceMAE, &p.rmse, &p.persistenceRMSE, &p.climateRMSE,
		&p.skill, &p.coverage, &p.brier, &p.persistenceBrier, &p.climateBrier, &p.hits, &p.falseAlarms, &p.persHits, &p.persFalse)
	if err != nil {
		t.Fatal(err)
	}
	return p, n
}
