// Package readinglog stores readings that accounts send through a Kafka topic. It commits offsets after ClickHouse has
// stored the readings.
package readinglog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/ingest/push"
	"vayu/ingest/stream"
	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/topic"
	"vayu/internal/topic/broker"
	"vayu/schema"
)

// limits bound a batch. One insert stores the batch. A batch of 8 MiB has about 70,000 readings, and needs about 60 MB
// of memory. If a batch is not full, it waits half a second for more readings, which is short compared with the
// interval of the roll-up.
var limits = topic.Limits{Messages: 100_000, Bytes: 8 << 20, Linger: 500 * time.Millisecond, Ahead: 16}

// Store stores the readings of records. [push.Service] implements it.
type Store interface {
	StoreRecords(ctx context.Context, runs push.Runs, records []push.Record) ([]push.Result, error)
}

// Config configures a Log. If Brokers and Topic are set, the fields Store, State and Conn are required.
type Config struct {
	Settings
	EventLog broker.Settings // TLS, login and topics of the event log
	Brokers  []string        // host:port; without any there is no Log
	Store    Store
	State    *sqlstore.DB // has the accounts
	Conn     driver.Conn  // for the journal
	Ops      string       // database of the journal; "" for [schema.OpsDatabase]
	Pace     topic.Pace   // timeouts and intervals; zero for the defaults
	Log      *slog.Logger
	Metrics  prometheus.Registerer // nil for none
}

// Log receives readings from the topic and stores them.
type Log struct {
	*topic.Client

	store    Store
	accounts *accounts
	runs     [len(schema.Worlds)]*stream.Recorder
}

// New returns a Log without connecting. If no broker or no topic is set, New returns nil. It fails if settings, files
// or broker addresses are invalid, or if a metric is already registered.
func New(c Config) (*Log, error) {
	if len(c.Brokers) == 0 || c.Topic == "" {
		return nil, nil //nolint:nilnil // there is no log to return, and that is no error
	}
	if c.Store == nil || c.State == nil || c.Conn == nil {
		return nil, errors.New("the reading log needs store, state and connection")
	}
	if slices.Contains([]string{c.EventLog.Topic, c.EventLog.DeadTopic}, c.Topic) || c.DeadTopic == c.EventLog.Topic {
		return nil, config.Invalid("reading-log.topic", "the topics of readings must differ from those of the event log")
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	client, err := topic.New(topic.Config{
		Settings: c.at(c.EventLog), Brokers: c.Brokers,
		Name: "the reading log", Content: "readings", Worker: "ClickHouse", Prefix: "vayu_readinglog", Section: "reading-log",
		Reasons: []string{string(ingest.UnknownAccount), string(ingest.BadReply), string(ingest.BadLine), string(ingest.NoStation)},
		Limits:  limits, Pace: c.Pace, Log: c.Log, Metrics: c.Metrics,
	})
	if err != nil {
		return nil, err
	}
	l := &Log{Client: client, store: c.Store, accounts: newAccounts(c.State)}
	for _, w := range schema.Worlds {
		runs := journal.New(c.Conn, cmp.Or(c.Ops, schema.OpsDatabase), w)
		l.runs[w] = stream.NewRecorder(push.Source, "", runs, c.Log)
	}
	return l, nil
}

// Run stores readings until ctx ends.
func (l *Log) Run(ctx context.Context) error {
	recording, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, r := range l.runs {
		all.Go(func() { r.Run(recording) })
	}
	err := l.Consume(ctx, l.process)
	stop() // the last batch is processed, so the recorders can end
	all.Wait()
	return errors.Join(err, l.Close())
}
