package recharge_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// checks is the number of random runs on each store, and steps their average length. For
// more, use -rapid.checks=5000, and -rapid.seed=0 for other runs each time.
const checks, steps, seed = "20", "24", "20261120"

// TestModel runs random operations of accounts and a provider that answers, is silent,
// late or wrong. It compares the service with a model that has one thread and no store.
func TestModel(t *testing.T) {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": checks, "rapid.steps": steps, "rapid.seed": seed, "rapid.nofailfile": "true"} {
		if given[name] {
			continue
		}
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	stores := map[string]func(*testing.T) sqlstore.Config{
		"sqlite": func(t *testing.T) sqlstore.Config { return sqlstore.Config{Data: t.TempDir()} },
		"postgres": func(t *testing.T) sqlstore.Config {
			return sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
		},
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, n := store(t), 0
			rapid.Check(t, func(rt *rapid.T) {
				n++
				inBubble(t, func(t *testing.T) { play(t, rt, sqlstoretest.Open(t, at), fmt.Sprintf("provider%d", n)) })
			})
		})
	}
}

// inBubble runs a test with a fake clock. rapid ends a failed run by a panic, which
// inBubble passes to the calling goroutine.
func inBubble(t *testing.T, story func(t *testing.T)) {
	t.Helper()
	var ended any
	synctest.Test(t, func(t *testing.T) {
		defer func() { ended = recover() }()
		story(t)
	})
	if ended != nil {
		panic(ended)
	}
}

// play is one random run, with accounts and a provider of its own.
func play(t *testing.T, rt *rapid.T, db *sqlstore.DB, name string) {
	t.Helper()
	m := newModel(t, rt, db, name)
	defer func() { m.stop() }() // of the newest service
	rt.Repeat(map[string]func(*rapid.T){
		"":                        m.compare,
		"recharge":                m.recharge,
		"recharge once more":      m.recharge, // it is what happens most
		"recharge something else": m.recharge,
		"top up":                  m.topUp,
		"again":                   m.again,
		"conflict":                m.conflict,
		"elsewhere":               m.elsewhere,
		"invalid number":          m.invalidNumber,
		"pass":                    m.advanceClock,
		"tell":                    m.sendCallback,
		"lie":                     m.sendContradiction,
		"refund":                  m.refund,
		"restart":                 m.restart,
	})
	m.end(rt)
}

// modelItem is a recharge in the model.
type modelItem struct {
	request request.Request
	script  *script
	id      string
	poor    bool // there was not enough money
	seen    record.Record
	want    schema.RechargeState // in the end
	alarm   string
}

// expectedState returns the state of an item without callbacks or refunds.
func (it *modelItem) expectedState() schema.RechargeState {
	if it.poor || !it.request.Valid {
		return schema.RechargeFailed
	}
	s := it.script
	switch {
	case s.Submits[0] == unsent:
		return schema.RechargeFailed
	case s.Submits[len(s.Submits)-1] == unsent: // what was sent before may be on its way
		return schema.RechargePending
	case s.Ported && it.request.RequestedOperator != "" && it.request.RequestedOperator != "Jio":
		return schema.RechargeFailed
	case s.Submits[len(s.Submits)-1] != answers && s.Submits[len(s.Submits)-1] != slow && s.Looks == never:
		return schema.RechargePending
	case !s.Good:
		return schema.RechargeFailed
	case s.Taken:
		return schema.RechargeRefunded
	}
	return schema.RechargeSuccess
}

// drawScript draws the script of a number: perhaps a submission that does not arrive, and
// one that does, or cannot.
func drawScript(rt *rapid.T) *script {
	s := &script{
		Good:   rapid.IntRange(0, 3).Draw(rt, "good") > 0,
		Looks:  rapid.SampledFrom([]int{0, 1, 2, never}).Draw(rt, "looks"),
		Deaf:   rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "deaf"),
		Ported: rapid.IntRange(0, 4).Draw(rt, "ported") == 4,
		Taken:  rapid.IntRange(0, 5).Draw(rt, "taken") == 5,
		Grants: rapid.Bool().Draw(rt, "grants"),
	}
	s.Submits = rapid.SliceOfN(rapid.SampledFrom([]behaviour{lost, puzzled}), 0, 1).Draw(rt, "submits")
	if rapid.IntRange(0, 2).Draw(rt, "reached") > 0 {
		s.Submits = nil // otherwise most runs would be about lost calls
	}
	s.Submits = append(s.Submits, rapid.SampledFrom([]behaviour{answers, answers, pends, slow, silent, hangs, late, unsent}).Draw(rt, "arrival"))
	return s
}

// recharge makes a new recharge.
func (m *model) recharge(rt *rapid.T) {
	p := m.drawWallet(rt)
	it := &modelItem{script: drawScript(rt)}
	it.request = request.Request{
		Origin: transaction.Origin{Owner: p.owner}, RefID: m.next("ref"), Type: schema.Prepaid, Number: m.number(), Valid: true,
		RequestedOperator: rapid.SampledFrom([]string{"", "", "Airtel", "Jio"}).Draw(rt, "asked"),
		Amount:            schema.Paise(rapid.Int64Range(10_00, 400_00).Draw(rt, "amount")),
	}
	m.make(rt, p, it)
}

// invalidNumber makes a recharge that fails before a call.
func (m *model) invalidNumber(rt *rapid.T) {
	p := m.drawWallet(rt)
	it := &modelItem{script: &script{}, request: request.Request{
		Origin: transaction.Origin{Owner: p.owner}, RefID: m.next("ref"), Type: schema.Prepaid, Number: "12345", RequestedOperator: "Airtel", Amount: 10_00,
	}}
	m.make(rt, p, it)
}

// make sends a new request, and compares the answer with the account's balance.
func (m *model) make(rt *rapid.T, p *walletModel, it *modelItem) {
	it.poor = it.request.Valid && p.available() < it.request.Amount
	it.want = it.expectedState()
	m.provider.setScript(it.request.Number, it.script)
	rec, replayed, err := m.service.Do(m.ctx, it.request, wait(rt))
	if err != nil || replayed {
		rt.Fatalf("Do(%+v): %v, replayed %v, want a new recharge", it.request, err, replayed)
	}
	it.id, it.seen = rec.ID, rec
	it.seen.State = schema.RechargePending // whatever follows from there is right
	p.items = append(p.items, it)
	switch {
	case !it.request.Valid:
		m.wantFailed(rt, &rec, schema.InvalidNumber)
	case it.poor:
		m.wantFailed(rt, &rec, schema.InsufficientBalance)
	}
}

func (m *model) wantFailed(rt *rapid.T, rec *record.Record, code schema.Code) {
	if rec.State != schema.RechargeFailed || rec.ErrorCode != code {
		rt.Fatalf("got %s %s, want failed %s", rec.State, rec.ErrorCode, code)
	}
}

// wait draws how long a client waits.
func wait(rt *rapid.T) time.Duration {
	return rapid.SampledFrom([]time.Duration{0, 800 * time.Millisecond, 10 * time.Second}).Draw(rt, "wait")
}

// again repeats a request: it is replayed, without any effect.
func (m *model) again(rt *rapid.T) {
	it := m.drawItem(rt)
	rec, replayed, err := m.service.Do(m.ctx, it.request, wait(rt))
	if err != nil || !replayed || rec.ID != it.id {
		rt.Fatalf("Do(%+v) once more: %s, replayed %v, %v, want %s replayed", it.request, rec.ID, replayed, err, it.id)
	}
}

// conflict sends another request under a used reference.
func (m *model) conflict(rt *rapid.T) {
	r := m.drawItem(rt).request
	switch rapid.IntRange(0, 2).Draw(rt, "what") {
	case 0:
		r.Amount++
	case 1:
		r.Number, r.Valid = m.number(), true
	default:
		r.RequestedOperator = "BSNL"
	}
	rec, _, err := m.service.Do(m.ctx, r, wait(rt))
	if codeOf(err) != schema.DuplicateRefID {
		rt.Fatalf("Do(%+v): %+v, %v, want duplicate_ref_id", r, rec, err)
	}
}

// elsewhere uses the reference of one account in another, where it is new.
func (m *model) elsewhere(rt *rapid.T) {
	from := m.drawItem(rt)
	for _, p := range m.wallets {
		if p.find(from.request.RefID) != nil {
			continue
		}
		it := &modelItem{script: from.script, request: from.request}
		it.request.Owner, it.request.Number = p.owner, m.number()
		if !from.request.Valid {
			it.request.Number = "12345"
		}
		m.make(rt, p, it)
		return
	}
	rt.Skip("both accounts have used it")
}
