package wiring

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/internal/columnstore"
	"vayu/internal/config"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
)

// A ClickHouse that accepts connections and never replies uses the whole timeout. The
// check of the state store still succeeds.
func TestHangingStoreDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	s := &Service{Config: settings.Defaults(), log: slog.New(slog.DiscardHandler), state: sqlstoretest.SQLite(t)}
	s.Roles = []string{settings.RoleAPI}
	for _, protocol := range [...]string{"http", "clickhouse"} {
		settings := columnstore.Default()
		settings.DSN = config.DSN(protocol + "://default@" + silent.Addr().String() + "/")
		if s.db, err = columnstore.Open(settings, s.log, nil); err != nil {
			t.Fatal(err)
		}
		reg := prometheus.NewRegistry()
		w := newWatcher(s, reg)
		up := func(store string) bool { return fixture.MetricValue(t, reg, "vayu_store_up", "store", store) == 1 }
		fixture.Eventually(t, protocol+": the state store is up", func() bool { // a busy machine may be late once
			w.checkStores(t.Context())
			return up("state")
		})
		if up("clickhouse") {
			t.Errorf("%s: a silent ClickHouse is reported as up", protocol)
		}
		_ = s.db.Conn().Close()
	}
}

// The first ledger check runs after the startup. A failed check is retried soon; others
// are daily.
func TestFailedLedgerCheckIsRetriedSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 49*time.Hour)
		defer cancel()
		var got []time.Duration
		repeatLedgerChecks(ctx, func(context.Context) bool {
			got = append(got, time.Since(began))
			return len(got) != 1 && len(got) != 2
		})
		const day = 24 * time.Hour
		want := []time.Duration{5 * time.Minute, 10 * time.Minute, 15 * time.Minute, day + 15*time.Minute, 2*day + 15*time.Minute}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
