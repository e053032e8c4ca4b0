package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/places"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// explainTimeout limits the query for a station's readings, from which an error message states what the station
// measures. If the query fails, the message uses the station's figures in the snapshot.
const explainTimeout = 500 * time.Millisecond

// noStationNear returns the error for a position that has no station with current figures nearby.
func (w *worldState) noStationNear(
	ctx context.Context, snap *snapshot.Snapshot, p places.Point, q *request.Query, now time.Time,
) error {
	kinds := snap.KindsFor(q.Kinds)
	problem := schema.NewProblem(schema.NoStationNearby, "lat", fmt.Sprintf("No station within %.0f km has a current AQI.", snapshot.NearestReach))
	if q.Has(request.HasPincode) {
		problem.Field = "pincode"
	}
	i, km := snap.Nearest(p, func(*snapshot.Station) bool { return true })
	if i < 0 {
		return problem
	}
	problem.DistanceKM = snapshot.Kilometres(km)
	if rated, d := snap.Nearest(p, func(st *snapshot.Station) bool { return st.AQI >= 0 && kinds.Has(st.Kind) }); rated >= 0 {
		problem.DistanceKM = snapshot.Kilometres(d)
		problem.Message += fmt.Sprintf(" The nearest with an AQI is %.1f km away.", d)
	}
	w.explain(ctx, snap, problem, aggregate.Sample{Station: i, KM: km}, q, now)
	if _, _, ok := snap.Interpolate(p, kinds|aggregate.KindsOf(air.Sensor)); ok {
		problem.Message += " Low-cost sensors have an AQI: send kinds=reference,sensor."
	}
	return problem
}

// noFigures returns the error for a city that has no current figures. Before the first roll-up, the error is
// errNoFigures if the city has stations, so that the client retries.
func (w *worldState) noFigures(ctx context.Context, snap *snapshot.Snapshot, i int, q *request.Query, now time.Time) error {
	kinds := snap.KindsFor(q.Kinds)
	c := &snap.Cities[i]
	problem := schema.NewProblem(schema.NoData, "city", "There is no AQI for "+snap.Index.Label(i)+" yet.")
	stations := snap.OfCity(c, aggregate.KindsOf(air.StationKinds[:]...))
	if len(stations) == 0 {
		return problem
	}
	if built, of := w.publisher.Built(); built != nil && of.Rollups == 0 {
		return errNoFigures // the first roll-up has not ended yet
	}
	// Describe a station that has an AQI but whose kind does not count. If there is none, describe the first station,
	// usually the nearest to the centre of the city.
	candidate := slices.IndexFunc(stations, func(sm aggregate.Sample) bool {
		return sm.Figures.AQI >= 0 && !kinds.Has(snap.Stations[sm.Station].Kind)
	})
	w.explain(ctx, snap, problem, stations[max(candidate, 0)], q, now)
	if candidate >= 0 && !kinds.Has(air.Sensor) {
		problem.Message += " Low-cost sensors have an AQI: send kinds=reference,sensor."
	}
	return problem
}

// explain adds a station to a problem, with the reasons why the station does not count.
func (w *worldState) explain(
	ctx context.Context, snap *snapshot.Snapshot, problem *schema.Problem, sm aggregate.Sample, q *request.Query, now time.Time,
) {
	st := &snap.Stations[sm.Station]
	n := &schema.NearestStation{ID: st.ID, Kind: st.Kind.String(), Has: []string{}, Missing: []schema.Condition{}}
	if sm.KM >= 0 {
		n.DistanceKM = snapshot.Kilometres(sm.KM)
	}
	has, whole := w.measuredPollutants(ctx, st, q)
	for _, p := range has {
		n.Has = append(n.Has, p.String())
	}
	miss := func(missing bool, c schema.Condition) {
		if missing {
			n.Missing = append(n.Missing, c)
		}
	}
	if st.AQI < 0 {
		miss(len(has) < naqi.MinPollutants, schema.ThreePollutants)
		miss(!particles(has), schema.OnePM)
		miss(len(whole) < len(has) && (len(whole) < naqi.MinPollutants || !particles(whole)), schema.SixteenHours)
	}
	miss(!q.Has(request.HasStation) && !snap.KindsFor(q.Kinds).Has(st.Kind), schema.CountedKind)
	miss(q.Current() && now.Sub(st.LastSeen) > gapfill.FillWindow*time.Second, schema.Recent)
	miss(sm.KM > snapshot.NearestReach, schema.Within100KM)
	miss(!q.Current() && len(n.Missing) == 0, schema.InPeriod)
	problem.Nearest = n
	subject := "The nearest station is " + n.ID
	if q.Has(request.HasStation) {
		subject = "Its kind is " + n.Kind
	}
	problem.Message += " " + describe(n, subject)
}

// measuredPollutants returns the pollutants of the index that a station measures (`has`), and those with enough hours
// of readings (`whole`). It reads the station's readings from ClickHouse. For a bulk query, or if it gets no readings,
// it uses the station's figures in the snapshot, and returns the same list as `has` and `whole`.
func (w *worldState) measuredPollutants(ctx context.Context, st *snapshot.Station, q *request.Query) (has, whole []air.Pollutant) {
	if !q.Bulk && w.tables.Healthy() {
		ctx, cancel := context.WithTimeout(ctx, w.explainTimeout)
		defer cancel()
		// This query does not go through the circuit breaker. Its time limit is short, so a timeout does not mean that
		// ClickHouse has failed.
		if rows, err := station.Readings(ctx, w.snapshotTables, &st.Station); err == nil && len(rows) > 0 {
			newest := slices.MaxFunc(rows, func(x, y station.Reading) int { return x.At.Compare(y.At) }).At
			for _, p := range air.Pollutants {
				i := slices.IndexFunc(rows, func(r station.Reading) bool { return r.Parameter == p.String() })
				if i < 0 || newest.Sub(rows[i].At) >= gapfill.FillWindow*time.Second {
					continue
				}
				has = append(has, p)
				if rows[i].Whole() {
					whole = append(whole, p)
				}
			}
			return has, whole
		}
	}
	for i, p := range air.Pollutants {
		if st.Index[i] >= 0 || i < aggregate.Records && st.Concentrations[i].Known() {
			has = append(has, p)
		}
	}
	return has, has
}

func particles(list []air.Pollutant) bool {
	return slices.Contains(list, air.PM25) || slices.Contains(list, air.PM10)
}

// describe appends to `text` which pollutants a station measures, and the reasons why the station does not count.
func describe(n *schema.NearestStation, text string) string {
	if n.DistanceKM != nil {
		text += fmt.Sprintf(", %.1f km away", float64(*n.DistanceKM)/100)
	}
	what := "no pollutant of the index"
	if len(n.Has) > 0 {
		what = strings.Join(n.Has, ", ")
	}
	text += ". It measures " + what
	if len(n.Missing) == 0 {
		return text + "."
	}
	reasons := make([]string, len(n.Missing))
	for i, c := range n.Missing {
		reasons[i] = station.Reasons[c]
	}
	return text + " and does not count: " + strings.Join(reasons, "; ") + "."
}
