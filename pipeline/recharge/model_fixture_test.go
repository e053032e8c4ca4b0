package recharge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// model predicts the state of the service.
type model struct {
	t        *testing.T
	ctx      context.Context
	db       *sqlstore.DB
	provider *modelProvider
	wallets  []*walletModel
	service  *recharge.Service
	stop     func()
	made     int // names and numbers
}

// walletModel is the expected state of an account.
type walletModel struct {
	owner schema.Owner
	paid  schema.Paise
	tops  int
	items []*modelItem
}

func newModel(t *testing.T, rt *rapid.T, db *sqlstore.DB, name string) *model {
	t.Helper()
	m := &model{t: t, ctx: t.Context(), db: db, provider: newModelProvider(name)}
	for i := range 2 {
		tenant := accesstest.AddTenant(t, db, fmt.Sprintf("%s.%d", name, i))
		p := &walletModel{owner: tenant.In(schema.Sandbox)}
		m.wallets = append(m.wallets, p)
		m.pay(rt, p, 500_00)
	}
	m.start()
	return m
}

// start starts a service on the store.
func (m *model) start() {
	m.service, m.stop = runService(m.t, m.db, m.provider)
}

// restart stops the service and starts another one on the same store.
func (m *model) restart(*rapid.T) {
	m.stop()
	m.start()
}

// next returns a new name.
func (m *model) next(of string) string {
	m.made++
	return fmt.Sprintf("%s %d", of, m.made)
}

// number returns a new mobile number in a series of Airtel.
func (m *model) number() string {
	m.made++
	return fmt.Sprintf("9000%06d", m.made)
}

func (m *model) drawWallet(rt *rapid.T) *walletModel {
	return m.wallets[rapid.IntRange(0, len(m.wallets)-1).Draw(rt, "account")]
}

// drawItem draws an earlier recharge.
func (m *model) drawItem(rt *rapid.T) *modelItem {
	all := m.items()
	if len(all) == 0 {
		rt.Skip("there is none yet")
	}
	return all[rapid.IntRange(0, len(all)-1).Draw(rt, "recharge")]
}

func (m *model) items() []*modelItem { return slices.Concat(m.wallets[0].items, m.wallets[1].items) }

func (p *walletModel) find(ref string) *modelItem {
	i := slices.IndexFunc(p.items, func(it *modelItem) bool { return it.request.RefID == ref })
	if i < 0 {
		return nil
	}
	return p.items[i]
}

// available and held follow from the recharges as last read.
func (p *walletModel) available() schema.Paise {
	left := p.paid
	for _, it := range p.items {
		if s := it.seen.State; s == schema.RechargePending || s == schema.RechargeSuccess {
			left -= it.request.Amount
		}
	}
	return left
}

func (p *walletModel) held() (sum schema.Paise) {
	for _, it := range p.items {
		if it.seen.State == schema.RechargePending {
			sum += it.request.Amount
		}
	}
	return sum
}

// topUp credits money.
func (m *model) topUp(rt *rapid.T) {
	m.pay(rt, m.drawWallet(rt), schema.Paise(rapid.Int64Range(1_00, 600_00).Draw(rt, "payment")))
}

func (m *model) pay(rt *rapid.T, p *walletModel, amount schema.Paise) {
	payIn(rt, m.db, p.owner, amount)
	p.paid += amount
	p.tops++
}

// advanceClock lets time pass.
func (m *model) advanceClock(rt *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Second, 40 * time.Second, 80 * time.Second}).Draw(rt, "time"))
}

// compare compares the service with the model when nothing is in flight.
func (m *model) compare(rt *rapid.T) {
	synctest.Wait()
	for _, p := range m.wallets {
		for _, it := range p.items {
			if s := it.seen.State; s == schema.RechargePending || s == schema.RechargeSuccess { // the others are looked at in the end
				m.checkItem(rt, it)
			}
		}
		got, err := wallet.BalanceOf(m.db.View(m.ctx), p.owner)
		if err != nil {
			rt.Fatal(err)
		}
		if want := (wallet.Balance{Available: p.available(), Held: p.held()}); got != want {
			rt.Fatalf("%s has %+v, want %+v", p.owner.Account, got, want)
		}
	}
	if len(m.provider.faults) > 0 {
		rt.Fatalf("the operator complains: %v", m.provider.faults)
	}
}

// checkItem checks that the state of a recharge is unchanged, or changed by an allowed
// transition.
func (m *model) checkItem(rt *rapid.T, it *modelItem) {
	now, err := m.service.Find(m.ctx, it.request.Owner, it.id)
	if err != nil {
		rt.Fatalf("finding %s: %v", it.id, err)
	}
	was := it.seen.State
	switch {
	case now.State == was:
	case was == schema.RechargePending && now.State == schema.RechargeRefunded: // both steps at once
	case was == schema.RechargePending && now.State != schema.RechargePending:
	case was == schema.RechargeSuccess && now.State == schema.RechargeRefunded:
	default:
		rt.Fatalf("%s went from %s to %s", it.id, was, now.State)
	}
	if now.State != schema.RechargePending && now.State != it.want && (now.State != schema.RechargeSuccess || it.want != schema.RechargeRefunded) {
		rt.Fatalf("%s (%+v, asked %q) is %s, want %s", it.id, it.script, it.request.RequestedOperator, now.State, it.want)
	}
	if now.Alarm != it.alarm {
		rt.Fatalf("%s has the alarm %q, want %q", it.id, now.Alarm, it.alarm)
	}
	it.seen = now
}

// sendCallback sends a callback, once or twice; it decides a pending order.
func (m *model) sendCallback(rt *rapid.T) {
	it := m.drawItem(rt)
	a, ok := m.provider.callbackFor(it.seen.Reference)
	if !ok {
		rt.Skip("the provider has no callback")
	}
	if it.want == schema.RechargePending { // the provider would never have decided it
		it.want = schema.RechargeFailed
		if it.script.Good {
			it.want = schema.RechargeSuccess
			if it.script.Taken {
				it.want = schema.RechargeRefunded
			}
		}
	}
	for range rapid.IntRange(1, 2).Draw(rt, "times") {
		m.settle(rt, it, a)
	}
}

func (m *model) settle(rt *rapid.T, it *modelItem, a order.Answer) {
	if _, err := m.service.Settle(m.ctx, schema.Sandbox, m.provider.name, it.seen.Reference, a, "provider:"+m.provider.name); err != nil {
		rt.Fatalf("settling %s as %+v: %v", it.id, a, err)
	}
}

// sendContradiction sends a callback that contradicts the final state, twice. It raises an
// alarm and changes nothing else; a success of a refunded recharge raises none.
func (m *model) sendContradiction(rt *rapid.T) {
	it := m.drawItem(rt)
	a, alarm := order.Answer{Outcome: order.Succeeded}, "late_failure"
	switch it.seen.State {
	case schema.RechargeSuccess:
		a = order.Answer{Outcome: order.Failed, Code: schema.OperatorNetworkError}
	case schema.RechargeFailed:
		alarm = "late_success"
	case schema.RechargeRefunded:
		alarm = ""
	default:
		rt.Skip("it is not final")
	}
	if it.seen.Provider == "" {
		rt.Skip("the operator does not know it")
	}
	if it.alarm == "" {
		it.alarm = alarm
	}
	m.settle(rt, it, a)
	m.settle(rt, it, a)
}

// refund requests a refund.
func (m *model) refund(rt *rapid.T) {
	it := m.drawItem(rt)
	was := it.seen
	rec, err := m.service.Refund(m.ctx, it.request.Owner, it.id, recharge.RefundRequest{Reason: "not wanted", By: httpapi.Who{Request: "req_1"}})
	var refused *schema.Problem
	switch {
	case err != nil && !errors.As(err, &refused):
		rt.Fatalf("refunding %s: %v", it.id, err)
	case (was.State != schema.RechargeRefunded && (was.State != schema.RechargeSuccess || !it.script.Grants)) != (err != nil):
		rt.Fatalf("refunding %s, which is %s: %+v, %v", it.id, was.State, rec, err)
	case was.State == schema.RechargeSuccess && it.script.Grants:
		it.want = schema.RechargeRefunded
	}
}

// maxDuration exceeds the time of any script: six polls after 5, 10, 20, 40, 80 and 160
// seconds, and half a minute before a resend.
const maxDuration = 7 * time.Minute

// end lets all recharges finish, and checks them.
func (m *model) end(rt *rapid.T) {
	time.Sleep(maxDuration)
	m.compare(rt)
	for _, it := range m.items() {
		m.checkItem(rt, it)
		if it.seen.State != it.want {
			rt.Fatalf("%s (%+v, asked %q) is %s in the end, want %s", it.id, it.script, it.request.RequestedOperator, it.seen.State, it.want)
		}
		m.checkEffect(rt, it)
		m.checkTimeline(rt, it)
	}
	for _, p := range m.wallets {
		if diff := cmp.Diff(p.events(), eventCounts(rt, m.db, p.owner)); diff != "" {
			rt.Fatalf("events of %s (-want +got):\n%s", p.owner.Account, diff)
		}
		wantLedger(rt, m.db, p.owner)
	}
}

// checkEffect checks that the subscriber got what was charged, once, and nothing else.
func (m *model) checkEffect(rt *rapid.T, it *modelItem) {
	if !it.request.Valid {
		return
	}
	got, reversed := m.provider.effects(it.request.Number)
	want, wantReversed := 0, 0
	switch it.seen.State {
	case schema.RechargeSuccess:
		want = 1
	case schema.RechargeRefunded:
		want, wantReversed = 1, 1
	default:
	}
	if got != want || reversed != wantReversed {
		rt.Fatalf("%s is %s, and the operator did it %d times and took it back %d times", it.id, it.seen.State, got, reversed)
	}
}

// checkTimeline checks that the timeline agrees with the state, and that no answer
// contradicts it.
func (m *model) checkTimeline(rt *rapid.T, it *modelItem) {
	_, timeline, err := m.service.Timeline(m.ctx, it.request.Owner, it.id)
	if err != nil {
		rt.Fatal(err)
	}
	ends := map[schema.RechargeState][]schema.StepAnswer{
		schema.RechargePending: nil, schema.RechargeSuccess: {"success"}, schema.RechargeFailed: {"failed"}, schema.RechargeRefunded: {"success", "refunded"},
	}[it.seen.State]
	var settled []schema.StepAnswer
	good, bad := false, false
	for _, s := range timeline.Steps {
		switch {
		case s.Act == schema.ActSettled:
			settled = append(settled, s.Answer)
		case s.Answer == schema.AnswerSucceeded:
			good = true
		case s.Answer == schema.AnswerFailed:
			bad = true
		default:
		}
	}
	switch {
	case !slices.Equal(settled, ends):
		rt.Fatalf("%s: %s: settled = %v, want %v", it.id, it.seen.State, settled, ends)
	case (good || bad) && len(ends) == 0:
		rt.Fatalf("%s has good = %t, bad = %t and no end: %+v", it.id, good, bad, timeline.Steps)
	case good && ends[0] == "failed":
		rt.Fatalf("%s has good = %t, and ends with %v: %+v", it.id, good, ends, timeline.Steps)
	case bad && ends[0] != "failed":
		rt.Fatalf("%s has bad = %t, and ends with %v: %+v", it.id, bad, ends, timeline.Steps)
	}
}

// events returns the expected events of an account.
func (p *walletModel) events() map[string]int {
	all := map[string]int{"payment.succeeded": p.tops}
	for _, it := range p.items {
		if it.seen.PendingEventSent {
			all["recharge.pending "+it.id]++
		}
		switch it.seen.State {
		case schema.RechargeFailed:
			all["recharge.failed "+it.id]++
		case schema.RechargeRefunded:
			all["recharge.refunded "+it.id]++
			all["recharge.completed "+it.id]++
		case schema.RechargeSuccess:
			all["recharge.completed "+it.id]++
		default:
		}
	}
	return all
}

// eventCounts counts the events of an account by type and recharge.
func eventCounts(tb rapid.TB, db *sqlstore.DB, o schema.Owner) map[string]int {
	all := map[string]int{}
	err := sqlstore.Each(db.View(context.Background()), func(row sqlstore.Scanner) error {
		var kind string
		var envelope []byte
		var event struct {
			Data struct {
				ID string `json:"transaction_id"`
			} `json:"data"`
		}
		if err := row.Scan(&kind, &envelope); err != nil {
			return err
		}
		if err := json.Unmarshal(envelope, &event); err != nil {
			return err
		}
		if event.Data.ID != "" {
			kind += " " + event.Data.ID
		}
		all[kind]++
		return nil
	}, "SELECT type, envelope FROM event WHERE account_id = $1", o.Account)
	if err != nil {
		tb.Fatalf("reading events: %v", err)
	}
	return all
}

// payIn credits an account.
func payIn(tb rapid.TB, db *sqlstore.DB, o schema.Owner, amount schema.Paise) {
	box := outbox.New(outbox.Config{DB: db})
	purse := wallet.New(wallet.Config{DB: db, Events: box})
	if _, err := purse.Credit(context.Background(), o, amount, ulid.Make().String(), "test"); err != nil {
		tb.Fatalf("paying in %s: %v", amount, err)
	}
}

// wantLedger checks the ledger of an account.
func wantLedger(tb rapid.TB, db *sqlstore.DB, o schema.Owner) {
	report, err := wallet.Verify(context.Background(), db, o.Account)
	if err != nil || report.FaultCount != 0 {
		tb.Fatalf("the books of %s: %v, %v", o.Account, report.Faults, err)
	}
}

// codeOf returns the error code of a problem; "" for other errors.
func codeOf(err error) schema.Code {
	if p, ok := errors.AsType[*schema.Problem](err); ok {
		return p.Code
	}
	return ""
}

// runService is a service with one provider, which runs until stop is called.
func runService(t *testing.T, db *sqlstore.DB, h *modelProvider) (s *recharge.Service, stop func()) {
	t.Helper()
	box := outbox.New(outbox.Config{DB: db})
	s, err := recharge.New(recharge.Config{
		Options: transaction.Options{DB: db, Cipher: accesstest.Cipher(t), Events: box}, Connections: []order.Connection{h.connection()}, Settings: recharge.Settings{BatchRoom: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return s, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the service ended with %v", err)
		}
	}
}
