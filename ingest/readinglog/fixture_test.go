package readinglog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/ingest/push"
	"vayu/ingest/readinglog"
	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/internal/topic"
	"vayu/schema"
	"vayu/schema/migrations/clickhouse"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// patience bounds every wait of a test.
const patience = 5 * time.Minute

// stores are the databases that all instances of a test share.
type stores struct {
	db        *columnstore.DB
	state     *sqlstore.DB
	databases [len(schema.Worlds)]string
	ops       string
	account   accesstest.Tenant
	settings  readinglog.Settings
	brokers   []string
	writer    *kafka.Writer
	began     time.Time // a full minute
}

// brokersOf returns the broker of Kafka, or one in this process if genuine is not set.
func brokersOf(tb testing.TB, genuine bool) []string {
	tb.Helper()
	if genuine {
		switch broker := os.Getenv("VAYU_TEST_KAFKA"); {
		case broker != "":
			return []string{broker}
		case os.Getenv("CI") == "true":
			tb.Fatal("VAYU_TEST_KAFKA is not set, and in CI nothing is skipped")
		}
		tb.Skip("VAYU_TEST_KAFKA is not set; .ci/kafka starts a broker")
	}
	cluster, err := kfake.NewCluster(kfake.Ports(0))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}

func newStores(tb testing.TB, brokers []string) *stores {
	tb.Helper()
	s := &stores{db: columnstoretest.New(tb), state: sqlstoretest.SQLite(tb), brokers: brokers, began: time.Now().Truncate(time.Minute)}
	for _, w := range schema.Worlds {
		s.databases[w] = columnstoretest.Migrated(tb, s.db)
	}
	s.ops = columnstoretest.Database(tb, s.db)
	if err := migration.Apply(tb.Context(), s.db, migration.Params{Files: clickhouse.OpsFiles(), Database: s.ops, Values: clickhouse.Values()}); err != nil {
		tb.Fatal(err)
	}
	s.account = accesstest.AddTenant(tb, s.state, "one")
	name := fmt.Sprintf("%s.%d", strings.NewReplacer("/", "-", "=", "-").Replace(tb.Name()), time.Now().UnixNano())
	s.settings = readinglog.Settings{Topic: name, DeadTopic: name + ".dead", Group: name, Partitions: 4, Replicas: 1}
	s.writer = &kafka.Writer{
		Addr: kafka.TCP(brokers...), Topic: name, Balancer: &kafka.Murmur2Balancer{}, RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond, BatchSize: 1000,
	}
	tb.Cleanup(func() { _ = s.writer.Close() })
	return s
}

// failing is a store of batches that can fail, before or after it has stored a batch.
type failing struct {
	*loader.Loader

	before, after atomic.Bool
	failures      atomic.Int32
}

func (f *failing) Load(ctx context.Context, b *ingest.Batch) error {
	if f.before.Load() {
		f.failures.Add(1)
		return errors.New("the store is away")
	}
	err := f.Loader.Load(ctx, b)
	if err == nil && f.after.Load() {
		f.failures.Add(1)
		return errors.New("the reply was lost")
	}
	return err
}

// instance is one running reading log.
type instance struct {
	store   *failing
	metrics *prometheus.Registry
	stop    func()
}

// start starts an instance. It ends with the test, or by its stop.
func (s *stores) start(tb testing.TB) *instance {
	tb.Helper()
	i := &instance{store: &failing{Loader: loader.New(s.db.Conn(), s.databases[schema.Live])}, metrics: prometheus.NewRegistry()}
	service, err := push.New(push.Config{
		Conn: s.db.Conn(), Database: func(w schema.World) string { return s.databases[w] },
		Store: func(w schema.World) push.Store {
			if w == schema.Live {
				return i.store
			}
			return loader.New(s.db.Conn(), s.databases[w])
		},
		Change: func(access.Changer) httpapi.Handler { return nil }, Replay: func(h httpapi.Handler) httpapi.Handler { return h },
	})
	if err != nil {
		tb.Fatal(err)
	}
	log, err := readinglog.New(readinglog.Config{
		Settings: s.settings, Brokers: s.brokers, Store: service, State: s.state, Metrics: i.metrics,
		Conn: s.db.Conn(), Ops: s.ops,
		Pace: topic.Pace{Write: patience, Retry: 5 * time.Millisecond, Watch: 50 * time.Millisecond, Truncation: time.Second},
	})
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- log.Run(ctx) }()
	stopped := false
	i.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(i.stop)
	return i
}

// send writes messages to the topic, and retries while it is being created.
func (s *stores) send(tb testing.TB, messages ...kafka.Message) {
	tb.Helper()
	fixture.Eventually(tb, "the messages are in the topic", func() bool { return s.writer.WriteMessages(tb.Context(), messages...) == nil })
}

// reading returns a message with one reading of the station at minutes before the test began.
func (s *stores) reading(station string, value float64, minutes int) kafka.Message {
	at := s.began.Add(-time.Duration(minutes) * time.Minute).UTC().Format(time.RFC3339)
	return kafka.Message{
		Key: []byte(station), Headers: []kafka.Header{{Key: "account", Value: []byte(s.account.ID)}},
		Value: fmt.Appendf(nil, `{"parameter":"pm25","value":%v,"unit":"ug/m3","at":%q,"averaging_minutes":1,"latitude":28.6315,"longitude":77.2167}`, value, at),
	}
}

// stored returns the number of readings of a world without duplicates, and the sum of their values.
func (s *stores) stored(tb testing.TB, w schema.World) (rows uint64, sum float64) {
	tb.Helper()
	if err := s.db.Conn().QueryRow(tb.Context(), "SELECT count(), sum(value) FROM "+s.databases[w]+".reading FINAL").Scan(&rows, &sum); err != nil {
		tb.Fatal(err)
	}
	return rows, sum
}

// await waits until the live world has a number of readings.
func (s *stores) await(tb testing.TB, want uint64) {
	tb.Helper()
	fixture.Eventually(tb, fmt.Sprintf("%d readings are stored", want), func() bool { rows, _ := s.stored(tb, schema.Live); return rows == want })
}

// dead reads messages of the dead topic.
func (s *stores) dead(tb testing.TB, count int) (found []kafka.Message) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: s.brokers, GroupID: s.settings.Group + ".test", Topic: s.settings.DeadTopic, MaxWait: 100 * time.Millisecond, StartOffset: kafka.FirstOffset})
	defer func() { _ = r.Close() }()
	for len(found) < count {
		m, err := r.ReadMessage(ctx)
		if err != nil {
			tb.Fatalf("got %d of %d dead letters: %v", len(found), count, err)
		}
		found = append(found, m)
	}
	return found
}

func header(m kafka.Message, key string) string {
	i := slices.IndexFunc(m.Headers, func(h kafka.Header) bool { return h.Key == key })
	if i < 0 {
		return ""
	}
	return string(m.Headers[i].Value)
}
