package recharge_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/pipeline/wallet"
	"vayu/schema"
)

// A contention run has two accounts. Eight clients use five references with two amounts
// concurrently and read the balance. Their total exceeds the balance.
const (
	rounds   = 15
	clients  = 8
	each     = 12 // operations of a client
	refs     = 5
	small    = schema.Paise(100_00)
	large    = schema.Paise(150_00)
	balance  = schema.Paise(320_00)
	readTurn = 6 // one of so many operations reads the balance
)

// ask is an operation: a recharge, or with ref -1 a read of the balance.
type ask struct {
	account, ref int
	amount       schema.Paise
}

// got is the answer of an operation.
type got struct {
	kind      string // made, replayed, conflict or read
	id        string
	state     schema.RechargeState
	available schema.Paise
}

// register is the state of an account for sequential clients: the first use of a reference
// wins, and the balance cannot become negative.
type register struct {
	available schema.Paise
	used      [refs]use
}

type use struct {
	id     string
	amount schema.Paise
	poor   bool
}

// step applies an operation to a register; false if the answer is impossible.
func step(r register, in ask, out got) (register, bool) {
	if in.ref < 0 {
		return r, out.kind == "read" && out.available == r.available
	}
	u := &r.used[in.ref]
	fits := out.state == schema.RechargePending || out.state == schema.RechargeSuccess
	if u.id != "" {
		if u.amount != in.amount {
			return r, out.kind == "conflict"
		}
		return r, out.kind == "replayed" && out.id == u.id && (u.poor == (out.state == schema.RechargeFailed)) && (u.poor || fits)
	}
	*u = use{id: out.id, amount: in.amount, poor: r.available < in.amount}
	if u.poor {
		return r, out.kind == "made" && out.state == schema.RechargeFailed
	}
	r.available -= in.amount
	return r, out.kind == "made" && fits
}

func registers() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, 2)
			for _, op := range history {
				account := op.Input.(ask).account
				parts[account] = append(parts[account], op)
			}
			return parts
		},
		Init: func() any { return register{available: balance} },
		Step: func(state, in, out any) (bool, any) {
			next, ok := step(state.(register), in.(ask), out.(got))
			return ok, next
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%+v -> %+v", in, out) },
	}
}

// TestConcurrentReferencesAreLinearizable sends the same references concurrently from many
// clients, and finds a sequential order that explains the answers.
func TestConcurrentReferencesAreLinearizable(t *testing.T) {
	t.Parallel()
	stores := map[string]func(*testing.T) sqlstore.Config{
		"sqlite": func(t *testing.T) sqlstore.Config { return sqlstore.Config{Data: t.TempDir()} },
		"postgres": func(t *testing.T) sqlstore.Config {
			return sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
		},
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := store(t)
			synctest.Test(t, func(t *testing.T) {
				db := sqlstoretest.Open(t, at)
				for n := range rounds {
					newContention(t, db, n).runClients()
				}
			})
		})
	}
}

// contention is two accounts and their clients.
type contention struct {
	t        *testing.T
	db       *sqlstore.DB
	n        int
	provider *modelProvider
	owners   [2]schema.Owner
	service  *recharge.Service
	clock    atomic.Int64 // only the order counts

	mu      sync.Mutex
	history []porcupine.Operation
}

func newContention(t *testing.T, db *sqlstore.DB, n int) *contention {
	t.Helper()
	r := &contention{t: t, db: db, n: n, provider: newModelProvider(fmt.Sprintf("provider%d", n))}
	for i := range r.owners {
		r.owners[i] = accesstest.AddTenant(t, db, fmt.Sprintf("round%d.%d", n, i)).In(schema.Sandbox)
		payIn(t, db, r.owners[i], balance)
		for ref := range refs {
			r.provider.setScript(r.number(i, ref), &script{Submits: []behaviour{answers}, Good: true})
		}
	}
	return r
}

// number returns the number for a reference of an account.
func (r *contention) number(account, ref int) string {
	return fmt.Sprintf("9000%03d%d%02d", r.n, account, ref)
}

func (r *contention) runClients() {
	var stop func()
	r.service, stop = runService(r.t, r.db, r.provider)
	defer stop()
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() { r.runClient(client) })
	}
	all.Wait()
	time.Sleep(time.Minute) // what is pending ends
	synctest.Wait()
	if result := porcupine.CheckOperationsTimeout(registers(), r.history, 0); result != porcupine.Ok {
		r.t.Fatalf("round %d: no order of these explains the answers (%s):\n%s", r.n, result, r.eventTypes())
	}
	for i, o := range r.owners {
		r.checkAccount(i, o)
	}
}

// runClient runs the operations of one client: the same in each run, in an arbitrary order
// among clients.
func (r *contention) runClient(client int) {
	dice := rand.New(rand.NewPCG(uint64(r.n), uint64(client)))
	for range each {
		in := ask{account: dice.IntN(2), ref: dice.IntN(refs), amount: []schema.Paise{small, small, large}[dice.IntN(3)]}
		if dice.IntN(readTurn) == 0 {
			in.ref = -1
		}
		wait := time.Duration(dice.IntN(2)) * time.Second
		op := porcupine.Operation{ClientId: client, Input: in, Call: r.clock.Add(1)}
		op.Output = r.do(in, wait)
		op.Return = r.clock.Add(1)
		r.mu.Lock()
		r.history = append(r.history, op)
		r.mu.Unlock()
	}
}

// do runs one operation.
func (r *contention) do(in ask, wait time.Duration) got {
	o := r.owners[in.account]
	if in.ref < 0 {
		b, err := wallet.BalanceOf(r.db.View(r.t.Context()), o)
		if err != nil {
			r.t.Error(err)
		}
		return got{kind: "read", available: b.Available}
	}
	rec, replayed, err := r.service.Do(r.t.Context(), request.Request{
		Origin: transaction.Origin{Owner: o}, RefID: fmt.Sprintf("ref %d", in.ref), Type: schema.Prepaid, Number: r.number(in.account, in.ref), Valid: true,
		RequestedOperator: "Airtel", Amount: in.amount,
	}, wait)
	switch {
	case codeOf(err) == schema.DuplicateRefID:
		return got{kind: "conflict"}
	case err != nil:
		r.t.Errorf("%+v: %v", in, err)
		return got{}
	case replayed:
		return got{kind: "replayed", id: rec.ID, state: rec.State}
	}
	return got{kind: "made", id: rec.ID, state: rec.State}
}

// checkAccount checks that every charged order was carried out once, and nothing else.
func (r *contention) checkAccount(i int, o schema.Owner) {
	r.t.Helper()
	spent := schema.Paise(0)
	for _, op := range r.history {
		in, out := op.Input.(ask), op.Output.(got)
		if in.account != i || out.kind != "made" {
			continue
		}
		want := 1
		if out.state == schema.RechargeFailed {
			want = 0
		}
		if done, _ := r.provider.effects(r.number(i, in.ref)); done != want {
			r.t.Errorf("round %d: the operator did %+v %d times, want %d", r.n, in, done, want)
		}
		spent += in.amount * schema.Paise(want)
	}
	b, err := wallet.BalanceOf(r.db.View(r.t.Context()), o)
	if want := (wallet.Balance{Available: balance - spent}); err != nil || b != want {
		r.t.Errorf("round %d: %+v, %v in the end, want %+v", r.n, b, err, want)
	}
	if len(r.provider.faults) > 0 {
		r.t.Errorf("the operator complains: %v", r.provider.faults)
	}
	wantLedger(r.t, r.db, o)
}

// eventTypes returns the history for a failure message.
func (r *contention) eventTypes() (text string) {
	for _, op := range r.history {
		text += fmt.Sprintf("%d client %d: %+v -> %+v (%d)\n", op.Call, op.ClientId, op.Input, op.Output, op.Return)
	}
	return text
}
