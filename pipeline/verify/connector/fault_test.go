package connector_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
)

// Under any fault an outcome is one that the bank sent, and an enquiry settles the order.
func TestSimulatorFaults(t *testing.T) {
	t.Parallel()
	const found, missing, pending, unknown = bank.Found, bank.NotFound, bank.Pending, bank.Unknown
	all := map[providers.Fault]struct {
		deposit, enquiry, later bank.Outcome
		made                    int
	}{
		providers.None:       {found, found, found, 1},
		providers.DropBefore: {lost, unknown, unknown, 0},
		providers.Drop:       {lost, found, found, 1},
		providers.Delay:      {lost, found, found, 1},
		fakebank.Duplicate:   {found, found, found, 1},
		fakebank.Late:        {pending, pending, found, 1},
		fakebank.LateMissing: {pending, pending, missing, 0},
		fakebank.LieMissing:  {missing, found, found, 1},
		fakebank.LieForever:  {pending, pending, pending, 1},
		fakebank.Forget:      {lost, unknown, found, 1},
		fakebank.Waver:       {lost, missing, found, 1},
		fakebank.Other:       {lost, found, found, 1},
		providers.Page:       {lost, found, found, 1},
		providers.Broken:     {lost, found, found, 1},
		providers.Flood:      {lost, found, found, 1},
		fakebank.Missing:     {missing, missing, missing, 0},
		fakebank.Away:        {bank.NotMade, bank.NotMade, bank.NotMade, 0},
	}
	if len(all) != len(fakebank.Faults)+1 {
		t.Errorf("%d faults are tried, of %d", len(all)-1, len(fakebank.Faults))
	}
	for fault, c := range all {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			now := fixture.NewClock(time.Now())
			ended, end := context.WithCancel(t.Context())
			s, conn := serve(t, providers.Config{Late: 30 * time.Second, Slow: time.Hour, Delayed: end, Now: now.Now})
			s.Dice.Script(drop.Reference, fault)
			ctx := t.Context()
			if fault == providers.Delay {
				ctx = ended
			}
			a, err := conn.Bank.Deposit(ctx, drop)
			wantOutcome(t, "the deposit", a, err, c.deposit)
			a, err = conn.Bank.Enquire(t.Context(), drop)
			wantOutcome(t, "the enquiry", a, err, c.enquiry)
			now.Advance(30 * time.Second)
			a, err = conn.Bank.Enquire(t.Context(), drop)
			wantOutcome(t, "the enquiry later", a, err, c.later)
			if got := s.Deposits()[drop.Reference]; got != c.made {
				t.Errorf("%d deposits were made, want %d", got, c.made)
			}
		})
	}
}

// An unanswered enquiry has no outcome.
func TestEnquiryFaults(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	s, c := serve(t, providers.Config{Slow: time.Hour, Delayed: end})
	if _, err := c.Bank.Deposit(t.Context(), drop); err != nil {
		t.Fatal(err)
	}
	for _, f := range []providers.Fault{providers.Drop, providers.Page, providers.Broken, providers.Flood} {
		s.Dice.ScriptEnquiry(drop.Reference, f)
		a, err := c.Bank.Enquire(t.Context(), drop)
		wantOutcome(t, string(f), a, err, lost)
	}
	s.Dice.ScriptEnquiry(drop.Reference, providers.Delay)
	a, err := c.Bank.Enquire(ended, drop)
	wantOutcome(t, "delay", a, err, lost)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A silent server blocks a call no longer than the file's timeout. The timeout, 5 s, is long enough to send the
// request on a busy machine.
func TestSilenceIsNoOutcome(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	c := open(t, fakebank.Describe("http://"+listener.Addr().String()), nil)
	var all sync.WaitGroup
	all.Go(func() {
		a, err := c.Bank.Deposit(t.Context(), drop)
		wantOutcome(t, "a deposit", a, err, lost)
	})
	all.Go(func() {
		a, err := c.Bank.Resolve(t.Context(), address)
		wantOutcome(t, "an address", a, err, lost)
	})
	all.Wait()
}

// An unreadable answer decides nothing, and never permits another deposit.
func TestUnreadableAnswersAreNoOutcome(t *testing.T) {
	t.Parallel()
	const good = `"account":{"state":"ACTIVE"}`
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"another word":          {200, `{"ref":"REF","result":"DECLINED"}`},
		"another case":          {200, `{"ref":"REF","result":"invalid"}`},
		"no word":               {200, `{"ref":"REF",` + good + `}`},
		"null":                  {200, `{"ref":"REF","result":null}`},
		"an empty word":         {200, `{"ref":"REF","result":""}`},
		"a list":                {200, `[]`},
		"a list for a word":     {200, `{"ref":"REF","result":["VALID"],` + good + `}`},
		"an object for a word":  {200, `{"ref":"REF","result":{"VALID":true},` + good + `}`},
		"another reference":     {200, `{"ref":"another","result":"INVALID"}`},
		"both":                  {200, `{"ref":"REF","result":"INVALID","result":"VALID",` + good + `}`},
		"a page":                {200, `<html>INVALID</html>`},
		"a page with 404":       {404, `<html>not found</html>`},
		"404 of a gateway":      {404, `{"message":"no route"}`},
		"400":                   {400, `{"ref":"REF","result":"INVALID"}`},
		"401":                   {401, `{"ref":"REF","result":"INVALID"}`},
		"500":                   {500, `{"ref":"REF","result":"INVALID"}`},
		"502":                   {502, `{"ref":"REF","result":"UNSEEN"}`},
		"503":                   {503, `{"ref":"REF","result":"AWAY"}`},
		"NUL":                   {200, "{\"ref\":\"REF\",\"result\":\"INVALID\x00\"}"},
		"a word with NUL":       {200, `{"ref":"REF","result":"INVALID\u0000"}`},
		"too long":              {200, `{"ref":"REF","result":"INVALID","x":"` + strings.Repeat("x", 1<<20) + `"}`},
		"half":                  {200, `{"ref":"REF","result":"INVALID"`},
		"found without a state": {200, `{"ref":"REF","result":"VALID","account":{"name":"A"}}`},
		"an unmapped state":     {200, `{"ref":"REF","result":"VALID","account":{"state":"LIEN"}}`},
		"a state that is true":  {200, `{"ref":"REF","result":"VALID","account":{"state":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := answering(t, c.status, c.body, "REF", drop.Reference)
			a, err := conn.Bank.Deposit(t.Context(), drop)
			wantOutcome(t, "deposit", a, err, lost)
			a, err = conn.Bank.Enquire(t.Context(), drop)
			wantOutcome(t, "enquire", a, err, lost)
			a, err = conn.Bank.Resolve(t.Context(), address)
			wantOutcome(t, "resolve", a, err, lost)
		})
	}
	// "Unknown" is a valid answer to an enquiry, but not to an order. "Waiting" is not a valid
	// answer to a lookup of an address.
	conn := answering(t, 200, `{"result":"UNSEEN"}`)
	a, err := conn.Bank.Deposit(t.Context(), drop)
	wantOutcome(t, "deposit", a, err, lost)
	conn = answering(t, 200, `{"result":"QUEUED"}`)
	a, err = conn.Bank.Resolve(t.Context(), address)
	wantOutcome(t, "resolve", a, err, lost)
}

func TestRefusedConnectionIsNotSent(t *testing.T) {
	t.Parallel()
	conn := open(t, fakebank.Describe("http://127.0.0.1:1"), nil)
	drop := drop
	drop.VPA = address.VPA
	for name, call := range calls(conn.Bank) {
		if _, err := call(t.Context(), drop); !errors.Is(err, httpconnector.ErrNotSent) {
			t.Errorf("%s: got %v, want %v", name, err, httpconnector.ErrNotSent)
		}
	}
}

type asking func(context.Context, bank.Order) (bank.Answer, error)

func calls(b bank.Bank) map[string]asking {
	return map[string]asking{"deposit": b.Deposit, "enquire": b.Enquire, "resolve": b.Resolve}
}

// A call blocked by the breaker has not failed, and is made later.
func TestOpenBreakerIsNotCalled(t *testing.T) {
	t.Parallel()
	conn := open(t, strings.Replace(fakebank.Describe("http://127.0.0.1:1"), "failures: 1000, open: 1s", "failures: 1, open: 1h", 1), nil)
	if _, err := conn.Bank.Deposit(t.Context(), drop); !errors.Is(err, httpconnector.ErrNotSent) {
		t.Errorf("the first: got %v, want %v", err, httpconnector.ErrNotSent)
	}
	if conn.Available() {
		t.Error("conn.Available() is true after the first")
	}
	for name, call := range calls(conn.Bank) {
		if _, err := call(t.Context(), drop); !errors.Is(err, httpconnector.ErrNotCalled) || errors.Is(err, httpconnector.ErrNotSent) {
			t.Errorf("%s: got %v, want %v", name, err, httpconnector.ErrNotCalled)
		}
	}
}

// The log quotes the value that the file does not map.
func TestErrorQuotesUnmappedValue(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"result":"DECLINED"}`:                         `"DECLINED" as status`,
		`{"result":"VALID","account":{"state":"LIEN"}}`: `"LIEN" as account_status`,
		`{"result":"VALID","account":{"state":null}}`:   `no account_status`,
	} {
		if _, err := answering(t, 200, body).Bank.Deposit(t.Context(), drop); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", body, err, want)
		}
	}
}

// An enquiry by the bank's reference needs that reference.
func TestOrderWithoutProviderReference(t *testing.T) {
	t.Parallel()
	const ours, theirs = "path: /v1/deposits/{reference}", "path: /v1/status\n    query: {txn: \"{provider_ref}\"}"
	for ref, want := range map[string]error{"": httpconnector.ErrNotSent, "A-1": nil} {
		conn := answering(t, 200, `{"result":"INVALID"}`, ours, theirs)
		o := drop
		o.ProviderRef = ref
		if _, err := conn.Bank.Enquire(t.Context(), o); !errors.Is(err, want) {
			t.Errorf("theirs is %q: got %v, want %v", ref, err, want)
		}
	}
}
