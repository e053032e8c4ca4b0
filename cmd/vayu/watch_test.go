package main

import (
	"log/slog"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnar"
	"vayu/internal/config"
	"vayu/internal/fixturetest"
	"vayu/internal/state/statetest"
)

// A ClickHouse that takes connections and says nothing uses up the patience of a look,
// and the state store is told to be well all the same.
func TestAStoreThatHangsIsTheOnlyOneAway(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s := &service{Config: defaults(), log: slog.New(slog.DiscardHandler), state: statetest.SQLite(t)}
	s.Roles = []string{roleAPI}
	for _, protocol := range [...]string{"http", "clickhouse"} {
		settings := columnar.Default()
		settings.DSN = config.DSN(protocol + "://default@" + silent.Addr().String() + "/")
		if s.db, err = columnar.Open(settings, s.log, nil); err != nil {
			t.Fatal(err)
		}
		reg := prometheus.NewRegistry()
		w, err := newWatcher(s, reg)
		if err != nil {
			t.Fatal(err)
		}
		w.look(t.Context())
		for store, want := range map[string]float64{"clickhouse": 0, "state": 1} {
			if got := fixturetest.Figure(t, reg, "vayu_store_up", "store", store); got != want {
				t.Errorf("%s: vayu_store_up of %s is %v, want %v", protocol, store, got, want)
			}
		}
		_ = s.db.Conn().Close()
	}
}
