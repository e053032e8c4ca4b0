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
	"vayu/pipeline/upstream"
	"vayu/pipeline/verify"
	bankaggregator "vayu/pipeline/verify/aggregator"
	banksandbox "vayu/pipeline/verify/sandbox"
	"vayu/pipeline/wallet"
)

// money is what moves it: wallets, recharges, verifications, and batches of them.
type money struct {
	wallets       *wallet.Service
	recharges     *recharge.Service
	verifications *verify.Service
	batches       *batch.Service
	callbacks     *upstream.Callbacks
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
	banks, err := cfg.banks(log, reg)
	if err != nil {
		return err
	}
	m.verifications, err = verify.New(verify.Config{
		DB: s.state, Box: s.box, Events: s.outbox, Connections: banks, Settings: cfg.Verify, PublicURL: s.publicURL, Log: log, Metrics: reg,
	})
	if err != nil {
		return err
	}
	if m.callbacks, err = upstream.NewCallbacks(reg, m.recharges.Callbacks(), m.verifications.Callbacks()); err != nil {
		return err
	}
	m.batches, err = batch.New(batch.Config{
		DB: s.state, Box: s.box, Change: s.access.Change,
		Kinds: []batch.Kind{m.recharges.BatchKind(), m.verifications.BatchKind()}, Log: log, Metrics: reg,
	})
	return err
}

// publicURL is where clients reach the API.
func (s *service) publicURL() string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return s.address
}

// banks are who verifies accounts: the sandbox's bank, and those that files describe.
func (c Config) banks(log *slog.Logger, reg prometheus.Registerer) ([]verify.Connection, error) {
	all := []verify.Connection{banksandbox.Connection(time.Now)}
	origins := []string{"the bank that the sandbox brings along"} // of each of all
	for _, file := range c.Verify.Banks {
		one, err := bankaggregator.Open(file, log, reg)
		if err != nil {
			return nil, fmt.Errorf("verify.banks: %w", err)
		}
		same := func(c verify.Connection) bool { return c.Name == one.Name } // a callback names no world
		if i := slices.IndexFunc(all, same); i >= 0 {
			return nil, fmt.Errorf("verify.banks: %s: the name %s is that of %s already", file, one.Name, origins[i])
		}
		all, origins = append(all, one), append(origins, file)
	}
	return all, nil
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
		{Name: "verifications", Run: m.verifications.Run, Drain: rechargeDrain},
		{Name: "batches", Run: m.batches.Run, Drain: rechargeDrain},
	}
}

// routes are the endpoints about money.
func (m *money) routes() []api.Route {
	return slices.Concat(m.recharges.Routes(), m.verifications.Routes(), m.batches.Routes(), m.wallets.Routes(), []api.Route{m.callbacks.Route()})
}
