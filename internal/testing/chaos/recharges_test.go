package chaos

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"vayu/internal/sleep"
)

// Recharges orders recharges in the sandbox with known outcomes. It repeats an order with the same
// reference until it is answered, as clients should.
type Recharges struct {
	URL, Key string
	Rate     float64 // per second

	mu     sync.Mutex
	orders map[string]string // by reference: the expected final state
}

// numbers of the sandbox, and the outcomes of their recharges.
var numbers = []struct{ mobile, state string }{
	{"9000000001", "success"},
	{"9000000002", "success"}, // pending for five seconds
	{"9000000003", "failed"},  // after it was pending
	{"9000000004", "failed"},
}

// Limits of the orders.
const (
	maxOrders  = 200
	orderEvery = time.Second
)

// Prepare funds the wallet.
func (r *Recharges) Prepare(ctx context.Context) error {
	r.orders = map[string]string{}
	var reply struct{ Status, Message string }
	for n := range 20 {
		body := fmt.Sprintf(`{"amount":10000,"method":"upi","ref_id":"load-%d"}`, n)
		if err := send(ctx, http.MethodPost, r.URL+"/v1/wallet/topups", r.Key, body, &reply); err != nil {
			return fmt.Errorf("filling the wallet: %w", err)
		}
		if reply.Status == "error" {
			return fmt.Errorf("filling the wallet: %s", reply.Message)
		}
	}
	return nil
}

// Run orders until ctx ends.
func (r *Recharges) Run(ctx context.Context) {
	pace(ctx, r.Rate, maxOrders, func(n int) {
		is := numbers[n%len(numbers)]
		ref := fmt.Sprint("fault-run-", n)
		r.mu.Lock()
		r.orders[ref] = is.state
		r.mu.Unlock()
		body := fmt.Sprintf(`{"mobile":%q,"operator":"auto","amount":10,"type":"prepaid","ref_id":%q}`, is.mobile, ref)
		for {
			var reply struct{ Status string }
			err := send(context.WithoutCancel(ctx), http.MethodPost, r.URL+"/v1/recharge", r.Key, body, &reply)
			if err == nil && reply.Status != "error" {
				return
			}
			if !sleep.For(ctx, orderEvery) {
				r.forget(ref) // the order may or may not have been accepted
				return
			}
		}
	}, func(int) {})
}

func (r *Recharges) forget(ref string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.orders, ref)
}

// Unsettled returns the references whose recharge does not have its expected state, with the actual
// state. It should be empty some seconds after the last order.
func (r *Recharges) Unsettled(ctx context.Context) (all map[string]string, orders int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all = map[string]string{}
	for ref, want := range r.orders {
		var reply struct {
			Data []struct{ Status string }
		}
		if err := send(ctx, http.MethodGet, r.URL+"/v1/recharge?ref_id="+ref, r.Key, "", &reply); err != nil {
			return nil, 0, err
		}
		switch {
		case len(reply.Data) == 0:
			all[ref] = "unknown"
		case len(reply.Data) > 1:
			all[ref] = "there are two"
		case reply.Data[0].Status != want:
			all[ref] = reply.Data[0].Status
		}
	}
	return all, len(r.orders), nil
}
