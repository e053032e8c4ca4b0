package main

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/api"
	"vayu/internal/run"
	"vayu/pipeline/batch"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/aggregator"
	"vayu/pipeline/recharge/sandbox"
	"vayu/pipeline/wallet"
)

// money is what moves it: wallets, recharges and their batches.
type money struct {
	wallets   *wallet.Service
	recharges *recharge.Service
	batches   *batch.Service
}

// newMoney wires them.
func (s *service) newMoney(cfg Config, log *slog.Logger, reg prometheus.Registerer) error {
	m := &s.money
	var err error
	m.wallets, err = wallet.New(wallet.Config{DB: s.state, Box: s.box, Events: s.outbox, Change: s.access.Change, Log: log, Metrics: reg})
	if err != nil {
		return err
	}
	connections, err := cfg.connections(log, reg)
	if err != nil {
		return err
	}
	m.recharges, err = recharge.New(recharge.Config{
		DB: s.state, Box: s.box, Events: s.outbox, Connections: connections, BatchShare: cfg.Recharge.BatchRoom, Log: log, Metrics: reg,
	})
	if err != nil {
		return err
	}
	m.batches, err = batch.New(batch.Config{
		DB: s.state, Box: s.box, Change: s.access.Change, Kinds: []batch.Kind{m.recharges.BatchKind()}, Log: log, Metrics: reg,
	})
	return err
}

// connections are who carries recharges out: the sandbox's operator, and those that
// files describe.
func (c Config) connections(log *slog.Logger, reg prometheus.Registerer) ([]recharge.Connection, error) {
	all := []recharge.Connection{sandbox.Connection(time.Now)}
	origins := []string{"the operator that the sandbox brings along"} // of each of all
	for _, file := range c.Recharge.Operators {
		one, err := aggregator.Open(file, log, reg)
		if err != nil {
			return nil, fmt.Errorf("recharge.operators: %w", err)
		}
		same := func(c recharge.Connection) bool { return c.Name == one.Name } // a callback names no world
		if i := slices.IndexFunc(all, same); i >= 0 {
			return nil, fmt.Errorf("recharge.operators: %s: the name %s is that of %s already", file, one.Name, origins[i])
		}
		all, origins = append(all, one), append(origins, file)
	}
	return all, nil
}

// rechargeDrain is how long calls of operators that are under way may take to end;
// what has not ended then is asked about after the next start.
const rechargeDrain = 20 * time.Second

// parts are what runs: batches come last, because they make recharges.
func (m *money) parts() []run.Part {
	return []run.Part{
		{Name: "recharges", Run: m.recharges.Run, Drain: rechargeDrain},
		{Name: "batches", Run: m.batches.Run, Drain: rechargeDrain},
	}
}

// routes are the endpoints about money.
func (m *money) routes() []api.Route {
	return slices.Concat(m.recharges.Routes(), m.batches.Routes(), m.wallets.Routes())
}
