package wiring

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/cmd/vayu/settings"
	"vayu/internal/httpapi"
	"vayu/internal/lifecycle"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/sandbox"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/bank"
	bankaggregator "vayu/pipeline/verify/connector"
	banksandbox "vayu/pipeline/verify/sandbox"
	"vayu/pipeline/wallet"
)

// money has the services that move money: wallets, recharges, verifications, and batches of recharges or verifications.
type money struct {
	wallets       *wallet.Service
	recharges     *recharge.Service
	verifications *verify.Service
	batches       *batch.Service
	callbacks     *transaction.Callbacks
}

func (s *Service) newMoney(cfg settings.Config, log *slog.Logger, reg prometheus.Registerer) error {
	m := &s.money
	m.wallets = wallet.New(wallet.Config{DB: s.state, Events: s.outbox, Change: s.access.Change, Log: log, Metrics: reg})
	calls := httpconnector.Options{Log: log, Metrics: httpconnector.NewMetrics(reg)}
	providers, err := connections(cfg, calls)
	if err != nil {
		return err
	}
	options := transaction.Options{DB: s.state, Cipher: s.cipher, Events: s.outbox, Log: log, Trace: s.trace, Registry: reg}
	m.recharges, err = recharge.New(recharge.Config{Options: options, Connections: providers, Settings: cfg.Recharge})
	if err != nil {
		return err
	}
	verifiers, err := banks(cfg, calls)
	if err != nil {
		return err
	}
	m.verifications, err = verify.New(verify.Config{Options: options, Connections: verifiers, Settings: cfg.Verify, PublicURL: s.publicURL})
	if err != nil {
		return err
	}
	if m.callbacks, err = transaction.NewCallbacks(reg, m.recharges.Callbacks(), m.verifications.Callbacks()); err != nil {
		return err
	}
	m.batches, err = batch.New(batch.Config{
		DB: s.state, Cipher: s.cipher, Change: s.access.Change,
		Kinds: []item.Kind{m.recharges.BatchKind(), m.verifications.BatchKind()}, Log: log, Metrics: reg,
	})
	return err
}

func (s *Service) publicURL() string {
	if s.PublicURL != "" {
		return s.PublicURL
	}
	return s.address
}

// connections returns the connections to recharge providers. One of them is the simulated provider of the
// sandbox. The others come from configuration files.
func connections(c settings.Config, o httpconnector.Options) ([]order.Connection, error) {
	return connect("recharge.operators", sandbox.Connection(time.Now), c.Recharge.Operators,
		func(file string) (order.Connection, error) { return connector.Open(file, o) },
		func(c order.Connection) string { return c.Name })
}

// banks returns the connections to verification providers. One of them is the simulated provider of the
// sandbox. The others come from configuration files.
func banks(c settings.Config, o httpconnector.Options) ([]bank.Connection, error) {
	return connect("verify.banks", banksandbox.Connection(time.Now), c.Verify.Banks,
		func(file string) (bank.Connection, error) { return bankaggregator.Open(file, o) },
		func(c bank.Connection) string { return c.Name })
}

// connect opens a connection for each file that a setting lists, and adds the connection of the sandbox. Connections
// must have different names, even in different worlds: the path of a callback has the connection's name and no world.
func connect[C any](setting string, sandbox C, files []string, open func(file string) (C, error), name func(C) string) ([]C, error) {
	all, origins := []C{sandbox}, map[string]string{name(sandbox): "the provider of the sandbox"}
	for _, file := range files {
		one, err := open(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", setting, err)
		}
		if other, taken := origins[name(one)]; taken {
			return nil, fmt.Errorf("%s: %s: the name %s is already in use by %s", setting, file, name(one), other)
		}
		all, origins[name(one)] = append(all, one), file
	}
	return all, nil
}

// callDrain is the time that calls of operators and banks have to finish when the service stops. The result of an
// aborted call is unknown, so a status enquiry follows after the next start.
const callDrain = 20 * time.Second

// parts returns the parts of the money services that this instance's roles need, in the order of their start.
// Batches start last, because they create recharges and verifications.
func (m *money) parts(c settings.Config) []lifecycle.Part {
	if !c.Has(settings.RolePipeline) {
		if !c.Has(settings.RoleAPI) {
			return nil
		}
		return []lifecycle.Part{
			{Name: "recharges", Run: m.recharges.RunWithoutPolling, Drain: callDrain},
			{Name: "verifications", Run: m.verifications.RunWithoutPolling, Drain: callDrain},
		}
	}
	return []lifecycle.Part{
		{Name: "recharges", Run: m.recharges.Run, Drain: callDrain},
		{Name: "verifications", Run: m.verifications.Run, Drain: callDrain},
		{Name: "batches", Run: m.batches.Run, Drain: callDrain},
	}
}

func (m *money) routes() []httpapi.Route {
	return slices.Concat(m.recharges.Routes(), m.verifications.Routes(), m.batches.Routes(), m.wallets.Routes(), []httpapi.Route{m.callbacks.Route()})
}
