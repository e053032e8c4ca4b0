package airquality

import (
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

// TestClusterComputesTheFiguresOfANode: the same SQL works on a cluster, where it
// reads, joins and writes distributed tables.
func TestClusterComputesTheFiguresOfANode(t *testing.T) {
	t.Parallel()
	node := newFixture(t)
	cluster := &fixture{TB: t, db: columnstoretest.Cluster(t, clickhouse.Files, clickhouse.Values()), name: "vayu"}
	var err error
	if cluster.rollup, err = New(Config{Conn: cluster.db.Conn(), Tables: migration.Params{Database: cluster.name, Cluster: columnstoretest.ClusterName}, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()}); err != nil {
		t.Fatal(err)
	}
	var got [2][]string
	for i, w := range []*fixture{node, cluster} {
		w.station("a", "Delhi", "Delhi")
		w.station("b", "Delhi", "Delhi")
		w.station("c", "Pune", "Maharashtra")
		w.exec("INSERT INTO %s.station (id, name, city, state, kind) VALUES ('mean', 'mean', 'Delhi', 'Delhi', 'city_mean')")
		var all []air.Reading
		for h := range 40 {
			for n, station := range []string{"a", "b", "c", "mean"} {
				for _, p := range []air.Pollutant{air.PM25, air.PM10, air.NO2, air.O3} {
					all = append(all, air.Reading{Station: station, Parameter: p.Parameter(), At: hour(h), Value: float64(10*n + h + int(p))})
				}
			}
		}
		w.readings(all...)
		w.increment()
		all[0].Value++ // and once more, from what changed
		w.readings(all[0])
		w.increment()
		got[i] = append(w.text("SELECT toString(tuple(* EXCEPT computed_at)) FROM %s.station_hour FINAL ORDER BY station, at"),
			w.text("SELECT toString(tuple(* EXCEPT computed_at)) FROM %s.city_hour FINAL ORDER BY city, at")...)
		got[i] = append(got[i], w.text("SELECT toString(tuple(* EXCEPT computed_at)) FROM %s.city_day FINAL ORDER BY city, day")...)
	}
	if len(got[0]) < 200 {
		t.Errorf("there are %d figures, want some hundred", len(got[0]))
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("-node +cluster:\n%s", diff)
	}
}
