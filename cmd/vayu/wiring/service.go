// Package wiring creates and connects the parts of the service, and runs those that an instance's roles need.
package wiring

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"vayu/cmd/vayu/admin"
	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/ingest/collect"
	"vayu/ingest/loader"
	"vayu/ingest/monitor"
	"vayu/ingest/progress"
	"vayu/ingest/push"
	"vayu/ingest/readinglog"
	"vayu/internal/access"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/access/member"
	"vayu/internal/access/signup"
	"vayu/internal/columnstore"
	"vayu/internal/config"
	"vayu/internal/encryption"
	"vayu/internal/httpapi"
	"vayu/internal/httpapi/server"
	"vayu/internal/lifecycle"
	"vayu/internal/mail"
	"vayu/internal/memory"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/internal/sse"
	"vayu/internal/tracing"
	"vayu/query"
	"vayu/query/advice"
	"vayu/query/alert"
	"vayu/query/alert/evaluation"
	"vayu/query/export"
	"vayu/schema"
)

// Service has all parts of `vayu serve`.
type Service struct {
	settings.Config
	log           *slog.Logger
	out           io.Writer // messages for the operator
	state         *sqlstore.DB
	cipher        *encryption.Cipher
	access        *access.Service
	signup        *signup.Service
	members       *member.Service
	bootstrapKeys bootstrapKeys // keys that this start has created, if the store was empty
	webhooks
	money
	db     *columnstore.DB
	query  *query.Service
	air    *air
	alerts *alert.Service
	// evaluator evaluates the alerts. It runs with the role api only, because it needs the snapshot of that role.
	evaluator *evaluation.Evaluator
	push      *push.Service
	readings  *readinglog.Log // nil without a topic of readings
	monitors  *monitor.Group  // nil without the role ingest
	live      *sse.Service
	server    *http.Server
	// certificates is nil if the API serves plain HTTP.
	certificates *server.Certificates
	trace        *tracing.Tracer // nil if tracing is off
	watcher      *watcher
	metrics      *prometheus.Registry
	address      string         // URL of the API; empty until the API listens
	readyCache   readinessCache // cached store checks of the readiness probe
	draining     atomic.Bool    // true after a stop was requested; readiness probes then fail
}

// New creates the parts of the service. It starts nothing and opens no listener.
func New(cfg settings.Config, log *slog.Logger, out io.Writer) (*Service, error) {
	if err := tool.MakeData(cfg.Data); err != nil {
		return nil, err
	}
	s := &Service{Config: cfg, log: log, out: out}
	reg := prometheus.NewRegistry()
	s.metrics = reg
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := s.newTrace(cfg, log, reg); err != nil {
		return nil, err
	}
	var err error
	if s.state, err = sqlstore.Open(cfg.StateStore(false), log, reg); err != nil {
		return nil, err
	}
	if s.cipher, err = encryption.Open(cfg.Encryption, cfg.Data); err != nil {
		return nil, err
	}
	s.outbox = outbox.New(outbox.Config{DB: s.state, Log: log, Trace: s.trace, Metrics: reg})
	s.access = access.New(access.Config{DB: s.state, Cipher: s.cipher, Settings: cfg.CallLimits(), Events: s.outbox, Log: log, Metrics: reg})
	mails := &mail.Sender{From: cfg.Signup.From, SMTP: cfg.Signup.SMTP, Data: cfg.Data, Log: log, Now: time.Now}
	s.signup = signup.New(signup.Config{
		Settings: cfg.Signup, DB: s.state, Cipher: s.cipher, Plans: cfg.Access.Plans, Mail: mails, BaseURL: s.publicURL, Limited: bool(cfg.RateLimits),
		Erase:   func(ctx context.Context, id string) error { return admin.EraseClosed(ctx, s.state, id) },
		Metrics: reg, Now: time.Now,
	})
	s.members = member.New(member.Config{
		DB: s.state, Cipher: s.cipher, Mail: mails, BaseURL: s.publicURL, Change: s.access.ChangeMembers, Limited: bool(cfg.RateLimits), Metrics: reg, Now: time.Now,
	})
	if err := s.newWebhooks(cfg, log, reg); err != nil {
		return nil, err
	}
	if err := s.newMoney(cfg, log, reg); err != nil {
		return nil, err
	}
	if s.db, err = columnstore.Open(cfg.ColumnStore(), log, reg); err != nil {
		return nil, err
	}
	s.copier = delivery.NewCopier(delivery.CopierConfig{DB: s.state, Conn: s.db.Conn(), Log: log, Metrics: reg})
	local, err := progress.Local(s.state, s.db.Embedded(), cfg.Data)
	if err != nil {
		return nil, err
	}
	problems, err := monitor.NewStores(s.state, func(w schema.World) (string, error) { return progress.Scope(w, local), nil })
	if err != nil {
		return nil, err
	}
	if s.query, err = query.New(query.Config{
		Conn: s.db.Conn(), Snapshots: s.db.Reserved(), Directory: filepath.Join(cfg.Data, "snapshot"), PinFile: cfg.PinCodes, Kinds: cfg.StationKinds(),
		Problems: problems.Found, Progress: collect.Progress(s.state, local), Log: log, Metrics: reg,
	}); err != nil {
		return nil, err
	}
	s.newAlerts(log, reg)
	if s.air, err = newAir(cfg, s.state, s.db, s.query, log, reg); err != nil {
		return nil, err
	}
	if cfg.Has(settings.RoleIngest) {
		if s.monitors, err = monitor.NewGroup(monitor.GroupConfig{
			DB: s.state, Conn: s.db.Conn(), Local: s.db.Embedded(), Stores: problems, Events: s.outbox, Accounts: apikey.Operators,
			Limits: cfg.SourceLimits, Log: log, Metrics: reg,
		}); err != nil {
			return nil, err
		}
	}
	if s.push, err = push.New(push.Config{
		Conn: s.db.Conn(), Database: schema.World.Database, Store: func(w schema.World) push.Store { return loader.New(s.db.Conn(), w.Database()) },
		Change: s.access.Change, Replay: s.access.Replay, Log: log, Metrics: reg,
	}); err != nil {
		return nil, err
	}
	if s.readings, err = readinglog.New(readinglog.Config{
		Settings: cfg.Readings, EventLog: cfg.EventLog, Brokers: cfg.Kafka, Store: s.push, State: s.state, Conn: s.db.Conn(), Log: log, Metrics: reg,
	}); err != nil {
		return nil, err
	}
	if err := s.newLive(log, reg); err != nil {
		return nil, err
	}
	if err := s.newAPI(reg); err != nil {
		return nil, err
	}
	s.watcher = newWatcher(s, reg)
	return s, nil
}

func (s *Service) newAPI(reg prometheus.Registerer) error {
	proxies, err := config.Networks(s.Proxies)
	if err != nil {
		return fmt.Errorf("proxies: %w", err)
	}
	open := map[string]http.Handler{}
	if s.Has(settings.RoleAPI) {
		if open, err = pages(); err != nil {
			return err
		}
	}
	open["/healthz"] = http.HandlerFunc(healthy)
	open["/readyz"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { s.writeReadiness(w, nil) }) // without details, and without checks of the stores
	if s.InternalListen == settings.InternalPublic {
		open["/readyz"] = s.readiness()
		open["/metrics"] = promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{Registry: reg})
	}
	c := httpapi.Config{Open: open, Proxies: proxies, Origins: s.Origins, Access: s.access, Log: s.log, Trace: s.trace, Metrics: reg}
	if s.Has(settings.RoleAPI) {
		c.Routes = s.routes()
	}
	handler, err := httpapi.New(c)
	if err != nil {
		return err
	}
	s.server = server.New(s.closeConnections(handler), s.log)
	s.server.RegisterOnShutdown(s.money.recharges.CloseWaiters)
	s.server.RegisterOnShutdown(s.money.verifications.CloseWaiters)
	s.server.RegisterOnShutdown(s.live.End)
	if !s.TLS.Enabled() {
		return nil
	}
	s.certificates, err = s.TLS.Open(s.log, reg, s.Data)
	return err
}

// apiDrain is the time that requests have to finish when the service stops. Most requests take less time. Service
// managers wait longer before they kill the process.
const apiDrain = 15 * time.Second

// Run opens the listeners and runs the parts of this instance. After ctx has ended, it waits for drain-delay and stops.
func (s *Service) Run(ctx context.Context) error {
	if err := s.db.Check(); err != nil && s.UsesClickHouse() {
		return err
	}
	listener, err := s.listen(ctx)
	if err != nil {
		return err
	}
	internal, err := s.listenInternal(ctx)
	if err != nil {
		_ = listener.Close()
		return err
	}
	s.address = s.scheme() + "://" + listener.Addr().String()
	s.air.onFirstAnswers = func() { s.printWelcome(s.address) }
	ctx, end := s.drainContext(ctx)
	defer end()
	return lifecycle.Run(ctx, s.log, s.parts(listener, internal)...)
}

// parts returns the parts of the service that this instance's roles need, in the order of their start. `internal` is
// nil if the instance has no internal listener.
func (s *Service) parts(listener, internal net.Listener) []lifecycle.Part {
	// The watcher starts before the parts that wait for another store, so that it can report that this store is down.
	releases := func(ctx context.Context) error { return memory.Run(ctx, s.log) }
	parts := []lifecycle.Part{s.tracePart(), {Name: "memory", Run: releases}, {Name: "state", Run: s.state.Run, Ready: s.stateReady}, {Name: "watch", Run: s.watcher.run}}
	if s.Has(settings.RoleAPI) {
		parts = append(parts, lifecycle.Part{Name: "access", Run: s.access.Run, Ready: s.access.Ready})
	}
	parts = slices.Concat(parts, s.webhooks.parts(s.Config), s.money.parts(s.Config))
	if s.Has(settings.RoleAPI) {
		parts = append(parts, lifecycle.Part{Name: "live", Run: s.live.Run}, lifecycle.Part{Name: "alerts", Run: s.evaluator.Run})
	}
	if s.UsesClickHouse() {
		parts = append(parts, lifecycle.Part{Name: "engine", Run: s.db.Run, Drain: tool.EngineDrain})
	}
	if internal != nil {
		parts = append(parts, s.internalPart(internal))
	}
	if s.Has(settings.RoleAPI) {
		parts = append(parts, lifecycle.Part{Name: "push", Run: s.push.Run})
	}
	// The API starts before the part "air", because the API can answer while ClickHouse starts.
	parts = append(parts, lifecycle.Part{Name: "api", Run: func(ctx context.Context) error { return s.serve(ctx, listener) }, Drain: apiDrain + time.Second})
	if s.Has(settings.RoleAPI) {
		parts = append(parts, lifecycle.Part{Name: "sign-up", Run: s.signup.Run}, lifecycle.Part{Name: "sign-in", Run: s.members.Run})
	}
	if s.certificates != nil {
		parts = append(parts, lifecycle.Part{Name: "certificates", Run: s.certificates.Run})
	}
	// The part "air" waits for ClickHouse, so the parts after it may start late.
	if s.UsesClickHouse() {
		parts = append(parts, lifecycle.Part{Name: "air", Run: s.air.Run, Ready: s.air.Ready})
	}
	if s.readings != nil && s.Has(settings.RoleIngest) {
		parts = append(parts, lifecycle.Part{Name: "reading log", Run: s.readings.Run})
	}
	if s.Has(settings.RoleIngest) {
		parts = append(parts, lifecycle.Part{Name: "monitor", Run: func(ctx context.Context) error { return s.monitors.Run(ctx, s.air.Ready) }})
	}
	if s.Has(settings.RoleDispatch) {
		parts = append(parts, lifecycle.Part{Name: "attempts", Run: s.copier.Run})
	}
	if s.Has(settings.RolePipeline) {
		parts = append(parts, lifecycle.Part{Name: "books", Run: s.watcher.runLedgerChecks})
	}
	return parts
}

// drainContext returns a context that ends later than ctx, by the delay in the setting drain-delay. During the delay,
// /readyz reports that the service stops, but requests are still served.
func (s *Service) drainContext(ctx context.Context) (longer context.Context, end func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		s.draining.Store(true)
		s.log.Info("stopping", "after", s.DrainDelay)
		sleep.For(longer, s.DrainDelay)
		cancel()
	})
	return longer, func() {
		stop()
		cancel()
	}
}

// closeConnections returns a handler that closes each connection after its reply while the service drains.
// Clients then connect to other instances.
func (s *Service) closeConnections(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.draining.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

func (s *Service) scheme() string {
	if s.certificates != nil {
		return "https"
	}
	return "http"
}

// stateReady waits for the state store, checks its encryption key and, with the role api, calls bootstrap.
func (s *Service) stateReady(ctx context.Context) error {
	if err := s.state.Ready(ctx); err != nil {
		return err
	}
	if err := s.cipher.Claim(ctx, s.state); err != nil {
		return err
	}
	if err := audit.KeyHeads(ctx, s.state, time.Now()); err != nil {
		s.log.ErrorContext(ctx, "the heads of the audit log cannot be authenticated", "error", err)
	}
	if !s.Has(settings.RoleAPI) {
		return nil
	}
	return s.bootstrap(ctx)
}

// listen opens the listener of the API. Requests contain keys. Without TLS, the address must therefore be
// loopback, unless insecure-http is set.
func (s *Service) listen(ctx context.Context) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", string(s.Listen))
	if err != nil {
		return nil, fmt.Errorf("listening on %s: %w", s.Listen, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok && !at.IP.IsLoopback() && s.certificates == nil && !s.InsecureHTTP {
		_ = listener.Close()
		return nil, fmt.Errorf("listen: %s is not a loopback address, and plain HTTP would show keys to the network; "+
			"set tls.cert and tls.key, put a TLS proxy in front and listen on 127.0.0.1, or set --insecure-http", s.Listen)
	}
	var settings *tls.Config
	if s.certificates != nil {
		settings = s.certificates.Config()
	}
	proxies, err := config.Networks(s.Proxies)
	if err != nil {
		return nil, fmt.Errorf("proxies: %w", err)
	}
	return server.NewListener(listener, settings, s.metrics, server.Connections{PerAddress: s.PerAddress, Proxies: proxies}), nil
}

func (s *Service) serve(ctx context.Context, listener net.Listener) error {
	restored := s.Has(settings.RoleAPI) && s.query.Restore() > 0
	s.log.InfoContext(ctx, "serving", "address", s.address, "roles", s.Roles, "data", s.Data, "sources", s.Sources, "snapshot", restored)
	if _, ok := s.query.Newest(schema.Sandbox); ok || s.Has(settings.RoleAPI) && !s.Has(settings.RoleIngest) {
		s.air.announce()
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), apiDrain)
		defer cancel()
		stopped <- s.server.Shutdown(limit)
	})
	defer stop()
	if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving HTTP: %w", err)
	}
	return <-stopped
}

func (s *Service) routes() []httpapi.Route {
	return slices.Concat(s.query.Routes(), s.query.PublicRoutes(s.Public, s.publicURL, bool(s.RateLimits)), export.New(export.Config{Conn: s.db.Conn()}).Routes(), advice.Routes(), s.alerts.Routes(), s.push.Routes(), s.access.Routes(), s.signup.Routes(), s.members.Routes(), s.webhooks.routes(), s.money.routes(), s.live.Routes())
}
