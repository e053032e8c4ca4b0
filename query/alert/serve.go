package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
	"vayu/schema/advice"
	"vayu/schema/air"
)

// Air finds places and their current air. Package query implements it.
type Air interface {
	// Place resolves the place of a request. For an unknown place the error is a *schema.Problem that names the field.
	Place(ctx context.Context, world schema.World, p air.AlertPlace) (Place, error)
	// Observe returns the current air of a place; false if there is none.
	Observe(world schema.World, p *Place) (Observation, bool)
	// Forecasts reports whether there are forecasts.
	Forecasts() bool
}

// Config configures a Service. All fields but Now are required.
type Config struct {
	DB *sqlstore.DB
	// Change returns a handler that makes and audits a change.
	Change func(access.Changer) httpapi.Handler
	Air    Air
	Events Events
	// Subscribed returns the number of active webhooks of an owner for a type of event.
	Subscribed func(of schema.Owner, event schema.EventType) int
	Now        func() time.Time // nil is time.Now
}

// Service is the API of alerts.
type Service struct{ Config }

// New returns a service.
func New(c Config) *Service {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Service{c}
}

const path = "/v1/alerts"

// errUnlocked means that the state of an alert could not be reset, although its row was locked.
var errUnlocked = errors.New("resetting the state of an alert: the row has changed")

// Routes returns the endpoints under /v1/alerts.
func (s *Service) Routes() []httpapi.Route {
	const (
		scope = string(schema.AlertsManage)
		one   = path + "/{id}"
	)
	pages := []string{"limit", "cursor"}
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: scope, Body: httpapi.SmallBody, Handler: s.post},
		{Method: http.MethodGet, Path: path, Scope: scope, Params: pages, Handler: s.list},
		{Method: http.MethodGet, Path: one, Scope: scope, Handler: s.get},
		{Method: http.MethodPatch, Path: one, Scope: scope, Body: httpapi.SmallBody, Handler: s.patch},
		{Method: http.MethodDelete, Path: one, Scope: scope, Handler: s.delete},
		{Method: http.MethodPost, Path: one + "/test", Scope: scope, Handler: s.Change(s.test)},
		{Method: http.MethodGet, Path: one + "/history", Scope: scope, Params: pages, Handler: s.history},
	}
}

func idOf(c *httpapi.Call) string { return mux.Vars(c.Request)["id"] }

func shown(status int, a *Alert) httpapi.Response {
	return httpapi.Response{Status: status, Value: air.AlertReply{Status: schema.Success, Alert: a.Wire()}}
}

// check returns the rule of a definition. It adds faults to f, except for fields that already have one.
func (s *Service) check(f *faults, d *Definition) rule {
	var found faults
	r := newRule(&found, d)
	if r.metric == metricForecast && !s.Air.Forecasts() {
		found.invalid("condition.metric", "This service has no forecasts.")
	}
	known := *f
	for _, one := range found.RequestErrors {
		field, _, _ := strings.Cut(one.Field, ".")
		if !known.about(field) {
			f.RequestErrors = append(f.RequestErrors, one)
		}
	}
	return r
}

// resolve finds the place `requested`, and adds the faults of the place to f. It does nothing if `requested` is nil.
func (s *Service) resolve(f *faults, c *httpapi.Call, requested *air.AlertPlace) (p Place, err error) {
	if requested == nil {
		return p, nil
	}
	if p, err = s.Air.Place(c.Context(), c.World, *requested); err != nil {
		err = f.add(err)
	}
	return p, err
}

func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	var f faults
	p, err := f.patchOf(c, true)
	if err != nil {
		return httpapi.Response{}, err
	}
	d := Definition{Language: string(advice.English)}
	p.apply(&d)
	r := s.check(&f, &d)
	if d.Place, err = s.resolve(&f, c, p.place); err != nil {
		return httpapi.Response{}, err
	}
	if err := f.problem(); err != nil {
		return httpapi.Response{}, err
	}
	return s.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		a, err := create(tx, c.Owner(), d, r, p.active == nil || *p.active, s.Now())
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		resp := shown(http.StatusCreated, a)
		resp.Location = path + "/" + a.ID
		return resp, entry("alert.create", a), nil
	})(c)
}

// entry describes a change for the audit log. The log is kept for ever, so the entry has no position of a place.
func entry(action string, a *Alert) audit.Entry {
	detail := map[string]any{"metric": a.Condition.Metric, "active": a.Active}
	return audit.Entry{Account: a.Account, World: a.World, Action: action, Subject: a.ID, Detail: detail}
}

func (s *Service) list(c *httpapi.Call) (httpapi.Response, error) {
	const name = "alerts"
	var f schema.RequestErrors
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, name, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := list(s.DB.View(c.Context()), c.Owner(), after, limit+1)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing alerts: %w", err)
	}
	return pagination.Reply(rows, limit,
		func(a *Alert) (air.Alert, error) { return a.Wire(), nil },
		func(a *Alert) *string { return pagination.Cursor(c, name, a.ID) })
}

func (s *Service) get(c *httpapi.Call) (httpapi.Response, error) {
	a, err := one(s.DB.View(c.Context()), c.Owner(), idOf(c))
	if err != nil {
		return httpapi.Response{}, err
	}
	return shown(http.StatusOK, a), nil
}

func (s *Service) history(c *httpapi.Call) (httpapi.Response, error) {
	a, err := one(s.DB.View(c.Context()), c.Owner(), idOf(c))
	if err != nil {
		return httpapi.Response{}, err
	}
	name := "alerts/" + a.ID
	var f schema.RequestErrors
	limit, before := pagination.Limit(&f, c.Params), int64(math.MaxInt64)
	if last := pagination.ReadCursor(&f, c, name, c.Params); last != "" {
		if before, err = strconv.ParseInt(last, 10, 64); err != nil {
			pagination.RejectCursor(&f)
		}
	}
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := history(s.DB.View(c.Context()), a.ID, before, limit+1)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("reading the history of an alert: %w", err)
	}
	return pagination.Reply(rows, limit,
		func(r change) (air.AlertChange, error) {
			return air.AlertChange{EventID: r.event, At: schema.FormatMicros(r.at), Data: json.RawMessage(r.data)}, nil
		},
		func(r change) *string { return pagination.Cursor(c, name, strconv.FormatInt(r.number, 10)) })
}

// patch changes an alert. A change of the place or the condition, or a pause, resolves a triggered alert.
func (s *Service) patch(c *httpapi.Call) (httpapi.Response, error) {
	var f faults
	p, err := f.patchOf(c, false)
	if err != nil {
		return httpapi.Response{}, err
	}
	if a, err := one(s.DB.View(c.Context()), c.Owner(), idOf(c)); err == nil { // the transaction below returns this error
		p.apply(&a.Definition)
		s.check(&f, &a.Definition)
	}
	place, err := s.resolve(&f, c, p.place)
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := f.problem(); err != nil {
		return httpapi.Response{}, err
	}
	return s.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		revision, err := nextRevision(tx)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		a, err := locked(tx, c.Owner(), idOf(c))
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		before := *a
		a.revision = revision
		p.apply(&a.Definition)
		if p.place != nil {
			a.Place = place
		}
		if p.active != nil {
			a.Active = *p.active
		}
		var f faults // the alert may have changed since the first check
		a.rule = s.check(&f, &a.Definition)
		if err := f.problem(); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		now := s.Now()
		if reason := reasonOf(&before, a); reason != "" {
			if err := s.reset(tx, &before, a, reason, now); err != nil {
				return httpapi.Response{}, audit.Entry{}, err
			}
		}
		if err := a.save(tx, now); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return shown(http.StatusOK, a), entry("alert.update", a), nil
	})(c)
}

// reasonOf returns why a change by the account resets the state of an alert; "" if the state stays.
func reasonOf(before, after *Alert) air.AlertReason {
	old, changed := &before.Condition, &after.Condition
	same := old.Metric == changed.Metric && old.Change == changed.Change && old.Category == changed.Category && old.Day == changed.Day &&
		string(old.Over) == string(changed.Over) && string(old.Under) == string(changed.Under)
	switch {
	case !same || before.Place.Key() != after.Place.Key():
		return air.AlertEdited
	case before.Active && !after.Active:
		return air.AlertPaused
	}
	return ""
}

// reset sets the state of an alert to that of a new one, but keeps the times of its events. If a limit has triggered
// the alert, reset also appends the event air.alert.resolved. The event has the definition of `before`, not of `after`.
func (s *Service) reset(tx *sqlstore.Tx, before, after *Alert, reason air.AlertReason, now time.Time) error {
	step := Step{State: initial(), Event: schema.EventAlertResolved, Reason: reason}
	step.State.Version, step.State.ChangedAt, step.State.TriggeredAt = before.State.Version+1, before.State.ChangedAt, before.State.TriggeredAt
	resolves := before.State.Triggered && !before.rule.changes()
	if resolves {
		step.State.ChangedAt = now
	}
	if saved, err := SaveStates(tx, []string{before.ID}, []State{step.State}); err != nil || !saved[before.ID] {
		return errors.Join(err, errUnlocked)
	}
	after.State = step.State
	if !resolves {
		return nil
	}
	data := s.data(before, &step, now)
	return Record(tx, s.Events, []Entry{{before, step.Event, step.State.Version, &data}}, now)
}

// data returns the data of an event with the current figures of the place.
func (s *Service) data(a *Alert, step *Step, now time.Time) air.AlertData {
	o, ok := s.Air.Observe(a.World, &a.Place)
	if !ok {
		return a.Data(step, nil, now)
	}
	if v, known := a.rule.value(&o, now); known {
		step.value = a.shown(v)
		if a.rule.changes() {
			step.value = a.rule.levelValue(a.rule.level(v))
		}
	}
	return a.Data(step, &o.Figures, now)
}

func (s *Service) delete(c *httpapi.Call) (httpapi.Response, error) {
	return s.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		revision, err := nextRevision(tx)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		a, err := locked(tx, c.Owner(), idOf(c))
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		now := s.Now()
		if err := s.reset(tx, a, a, air.AlertRemoved, now); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		if err := a.remove(tx, revision, now); err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return httpapi.Response{Value: air.AlertDeleted{Status: schema.Success, ID: a.ID, Deleted: true}}, entry("alert.delete", a), nil
	})(c)
}

// The method `test` appends the event air.alert.test with the current figures.
func (s *Service) test(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
	a, err := one(tx, c.Owner(), idOf(c))
	if err != nil {
		return httpapi.Response{}, audit.Entry{}, err
	}
	data := s.data(a, &Step{State: a.State, Event: schema.EventAlertTest, Reason: air.AlertTest}, s.Now())
	data.Test = true
	if a.State.Triggered && !a.rule.changes() {
		data.State = stateTriggered
	}
	id, err := s.Events.Append(tx, a.Account, a.World, schema.EventAlertTest, data)
	if err != nil {
		return httpapi.Response{}, audit.Entry{}, err
	}
	reply := air.AlertTested{Status: schema.Success, EventID: id, Webhooks: s.Subscribed(c.Owner(), schema.EventAlertTest)}
	return httpapi.Response{Status: http.StatusAccepted, Value: reply}, entry("alert.test", a), nil
}
