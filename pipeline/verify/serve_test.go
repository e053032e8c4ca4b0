package verify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

const path = "/v1/bank/verify"

// drop returns the body of a penny drop to an account that ends in four digits.
func drop(ending, ref string) string {
	return fmt.Sprintf(`{"account_number":"00123456%s","ifsc":"SBIN0000691","name":"Rahul Sharma","ref_id":%q}`, ending, ref)
}

func address(vpa, ref string) string {
	return fmt.Sprintf(`{"vpa":%q,"name":"Rahul Sharma","ref_id":%q}`, vpa, ref)
}

// when ignores the fields with unpredictable values.
var when = cmpopts.IgnoreFields(schema.Verification{}, "VerificationID", "CreatedAt", "VerifiedAt", "FailedAt", "UTR", "RefID")

// expectation is the expected content of a reply.
type transition struct {
	status    schema.VerificationState
	verified  bool
	match     schema.NameMatch
	account   schema.AccountStatus
	flagged   bool
	failure   schema.Code
	eventType string
}

var (
	exact     = transition{schema.VerificationSuccess, true, schema.NameExact, schema.AccountActive, false, "", "verification.completed"}
	partial   = transition{schema.VerificationSuccess, true, schema.NamePartial, schema.AccountActive, false, "", "verification.completed"}
	other     = transition{schema.VerificationSuccess, false, schema.NameNone, schema.AccountActive, false, "", "verification.completed"}
	dormant   = transition{schema.VerificationSuccess, false, schema.NameExact, schema.AccountDormant, false, "", "verification.completed"}
	flagged   = transition{schema.VerificationSuccess, true, schema.NameExact, schema.AccountActive, true, "", "verification.completed"}
	noAccount = transition{schema.VerificationFailed, false, "", "", false, schema.AccountNotFound, "verification.failed"}
	noAddress = transition{schema.VerificationFailed, false, "", "", false, schema.VPANotFound, "verification.failed"}
)

// magic are the sandbox values that are answered at once.
var magic = []struct {
	body string
	want transition
}{
	{drop("0001", "a1"), exact}, {drop("0002", "a2"), partial}, {drop("0003", "a3"), other}, {drop("0004", "a4"), dormant},
	{drop("0005", "a5"), transition{schema.VerificationSuccess, false, schema.NameExact, schema.AccountFrozen, false, "", "verification.completed"}},
	{drop("0006", "a6"), transition{schema.VerificationSuccess, false, schema.NameExact, schema.AccountClosed, false, "", "verification.completed"}},
	{drop("0007", "a7"), noAccount}, {drop("0008", "a8"), flagged},
	{address("success@upi", "u1"), exact}, {address("failure@upi", "u2"), noAddress}, {address("PARTIAL@upi", "u3"), partial},
	{address("dormant@upi", "u4"), dormant}, {address("suspicious@upi", "u5"), flagged},
}

// wantReply checks the content of a reply.
func (d *apiFixture) wantReply(what string, r accesstest.Reply, want transition) schema.Verification {
	d.t.Helper()
	v := read[schema.Verification](d.t, r, 200)
	got := transition{status: v.Status, verified: v.Verified, eventType: strings.Join(d.eventTypes(v.VerificationID), " ")}
	if v.Beneficiary != nil {
		got.match, got.account, got.flagged = v.NameMatch, v.AccountStatus, v.Suspicious && len(v.SuspiciousReasons) > 0
	}
	if v.Error != nil {
		got.failure = v.Error.Code
	}
	if got != want {
		d.t.Errorf("%s: got %+v, want %+v: %s", what, got, want, r.Text)
	}
	return v
}

// Every magic value gives its result, with 200 and one event.
func TestMagicValues(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		for _, c := range magic {
			first := d.sandbox("POST", path, c.body)
			v := d.wantReply(c.body, first, c.want)
			if strings.Contains(first.Text, "00123456") {
				t.Errorf("the number is not masked: %s", first.Text)
			}
			if shown := d.sandbox("GET", path+"/"+v.VerificationID, ""); c.want.failure == "" && shown.Text != first.Text || shown.Status != 200 || shown.At("error.request_id") != nil {
				t.Errorf("it is shown as %s, and was answered %s", shown.Text, first.Text)
			}
			again := d.sandbox("POST", path, c.body, "Prefer", "wait=5")
			switch {
			case again.Header.Get("Idempotent-Replayed") != "true":
				t.Errorf("again: %s: again.Header.Get(\"Idempotent-Replayed\") = %q, want \"true\"", again.Text, again.Header.Get("Idempotent-Replayed"))
			case again.Status != 200:
				t.Errorf("again: %s: again.Status = %v, want 200", again.Text, again.Status)
			case again.TextAt("verification_id") != v.VerificationID:
				t.Errorf("again: %s: again.TextAt(\"verification_id\") = %q, want %q", again.Text, again.TextAt("verification_id"), v.VerificationID)
			case first.Header.Get("Idempotent-Replayed") != "":
				t.Errorf("again: %s: first.Header.Get(\"Idempotent-Replayed\") = %q, want none", again.Text, first.Header.Get("Idempotent-Replayed"))
			}
			d.wantReply("after it was replayed", again, c.want)
			d.live("GET", path+"/"+v.VerificationID, "").WantError(t, "in the other world", 404, schema.NotFound, "")
		}
		if got := d.metric("vayu_verify_outcomes_total", "world", "sandbox", "outcome", "failed"); got != 2 {
			t.Errorf("%v failures are counted", got)
		}
	})
}

// The fields of the specification come first, in its order.
func TestReplyFields(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		reply := d.sandbox("POST", path, drop("0001", "a"))
		got := read[schema.Verification](t, reply, 200)
		want := schema.Verification{
			Status: schema.VerificationSuccess, Verified: true, Method: schema.VerifyPennyDrop, AccountNumber: "XXXXXXXX0001", IFSC: "SBIN0000691",
			Beneficiary: &schema.Beneficiary{
				NameMatch: schema.NameExact, BeneficiaryName: "RAHUL SHARMA", Bank: "State Bank of India", Branch: got.Branch, AccountStatus: schema.AccountActive,
				NameMatchScore: 100, SuspiciousReasons: []string{},
			},
		}
		switch diff := cmp.Diff(want, got, when); {
		case diff != "":
			t.Errorf("%s: (-want +got):\n%s", reply.Text, diff)
		case got.Branch == "":
			t.Errorf("%s: Branch is empty", reply.Text)
		case got.UTR == "":
			t.Errorf("%s: UTR is empty", reply.Text)
		case got.VerifiedAt == "":
			t.Errorf("%s: VerifiedAt is empty", reply.Text)
		case got.RefID != "a":
			t.Errorf("%s: RefID = %q, want \"a\"", reply.Text, got.RefID)
		}
		if head := `{"status":"success","verified":true,"name_match":"exact","beneficiary_name":"RAHUL SHARMA","bank":"State Bank of India","branch":"`; !strings.HasPrefix(reply.Text, head) {
			t.Errorf("the seven fields do not come first: %s", reply.Text)
		}
		failed := read[schema.Verification](t, d.sandbox("POST", path, address("failure@upi", "b")), 200)
		switch {
		case failed.VPA != "f****e@upi":
			t.Errorf("failed.VPA = %q, want \"f****e@upi\"", failed.VPA)
		case failed.Error == nil:
			t.Error("failed.Error is nil")
		case failed.Error.Message == "":
			t.Error("failed.Error.Message is empty")
		case failed.Error.RequestID == "":
			t.Error("failed.Error.RequestID is empty")
		case failed.FailedAt == "":
			t.Error("failed.FailedAt is empty")
		}
		nameless := read[schema.Verification](t, d.sandbox("POST", path, `{"vpa":"success@upi"}`), 200)
		if !nameless.Verified || nameless.NameMatch != schema.NameNone || nameless.BeneficiaryName == "" {
			t.Errorf("without a name: %+v", nameless)
		}
	})
}

// inTime runs a test on both engines with synthetic time.
func inTime(t *testing.T, do func(t *testing.T, d *apiFixture)) {
	t.Helper()
	for name, store := range map[string]func(*testing.T) sqlstore.Config{
		"sqlite": func(t *testing.T) sqlstore.Config { return sqlstore.Config{Data: t.TempDir()} },
		"postgres": func(t *testing.T) sqlstore.Config {
			return sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := store(t)
			synctest.Test(t, func(t *testing.T) { do(t, newAPIFixture(t, sqlstoretest.Open(t, at), nil)) })
		})
	}
}

// A silent bank gives 504 with the id, and an enquiry follows.
func TestSilentBankTimesOut(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *apiFixture) {
		for what, body := range map[string]string{"a deposit": drop("0009", "a"), "an address": address("timeout@upi", "b")} {
			began := time.Now()
			reply := d.sandbox("POST", path, body)
			reply.WantError(t, what, 504, schema.BankTimeout, "")
			id := reply.TextAt("verification_id")
			switch took := time.Since(began); {
			case took != 30*time.Second:
				t.Errorf("%s: %s: took = %v, want %v", what, reply.Text, took, 30*time.Second)
			case reply.TextAt("status") != "pending":
				t.Errorf("%s: %s: reply.TextAt(\"status\") = %q, want \"pending\"", what, reply.Text, reply.TextAt("status"))
			case id == "":
				t.Errorf("%s: %s: id is empty", what, reply.Text)
			case reply.At("error.retryable") != true:
				t.Errorf("%s: %s: reply.At(\"error.retryable\") = %v, want %v", what, reply.Text, reply.At("error.retryable"), true)
			case reply.Header.Get("Location") != path+"/"+id:
				t.Errorf("%s: %s: reply.Header.Get(\"Location\") = %q, want %q", what, reply.Text, reply.Header.Get("Location"), path+"/"+id)
			}
			if got := d.sandbox("GET", path+"/"+id, ""); got.Status != 200 || got.TextAt("status") != "pending" {
				t.Errorf("%s: meanwhile it is %d %s, want 200 and pending", what, got.Status, got.Text)
			}
			if got := d.eventTypes(id); len(got) != 0 {
				t.Errorf("%s: meanwhile it has the events %q, want none", what, got)
			}
			time.Sleep(15 * time.Second)
			d.wantReply(what, d.sandbox("GET", path+"/"+id, ""), exact)
			d.wantReply(what+" again", d.sandbox("POST", path, body), exact)
		}
	})
}

// A reply waits for a slow bank, unless the client declines.
func TestWaitForSlowBank(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *apiFixture) {
		began := time.Now()
		d.wantReply("by default", d.sandbox("POST", path, drop("0010", "a")), exact)
		if took := time.Since(began); took < 25*time.Second || took > 26*time.Second {
			t.Errorf("it took %s", took)
		}
		for what, c := range map[string]struct {
			body, prefer string
			waits        time.Duration
		}{
			"async":             {strings.Replace(drop("0010", "b"), "{", `{"async":true,`, 1), "", 0},
			"async and patient": {strings.Replace(drop("0010", "c"), "{", `{"async":true,`, 1), "wait=20", 0},
			"in no mood":        {drop("0010", "d"), "wait=0", 0},
			"for 3 s":           {drop("0010", "e"), "respond-async, wait=3", 3 * time.Second},
		} {
			began := time.Now()
			reply := d.sandbox("POST", path, c.body, "Prefer", c.prefer).Want(t, what, 202)
			id := reply.TextAt("verification_id")
			switch took := time.Since(began); {
			case took != c.waits:
				t.Errorf("%s: %s: took = %v, want %v", what, reply.Text, took, c.waits)
			case reply.TextAt("status") != "pending":
				t.Errorf("%s: %s: reply.TextAt(\"status\") = %q, want \"pending\"", what, reply.Text, reply.TextAt("status"))
			case reply.Header.Get("Location") != path+"/"+id:
				t.Errorf("%s: %s: reply.Header.Get(\"Location\") = %q, want %q", what, reply.Text, reply.Header.Get("Location"), path+"/"+id)
			case reply.At("error") != nil:
				t.Errorf("%s: %s: reply.At(\"error\") = %v, want nil", what, reply.Text, reply.At("error"))
			}
			if again := d.sandbox("POST", path, c.body, "Prefer", "wait=0").Want(t, what, 202); again.TextAt("verification_id") != id || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s: again it is %s", what, again.Text)
			}
			time.Sleep(27 * time.Second)
			d.wantReply(what, d.sandbox("GET", path+"/"+id, ""), exact)
		}
	})
}

// TestPendingVerificationIsReplayed replays the current state by Idempotency-Key.
func TestPendingVerificationIsReplayed(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *apiFixture) {
		const slow = `{"account_number":"00123456780010","ifsc":"SBIN0000691","name":"Rahul Sharma","async":true}`
		id := d.sandbox("POST", path, slow, "Idempotency-Key", "k").Want(t, "the first", 202).TextAt("verification_id")
		again := d.sandbox("POST", path, slow, "Idempotency-Key", "k").Want(t, "while it is pending", 202)
		if again.TextAt("verification_id") != id || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("while it is pending: got %v %s, want %s", again.Header, again.Text, id)
		}
		time.Sleep(27 * time.Second)
		d.wantReply("afterwards", d.sandbox("POST", path, slow, "Idempotency-Key", "k"), exact)
	})
}

// A client that disconnects after two seconds of a slow penny drop loses nothing. The
// verification ends once, with one event.
func TestDisconnectedClientLosesNothing(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *apiFixture) {
		d.disconnect(drop("0010", "a"), 2*time.Second)
		time.Sleep(30 * time.Second)
		list := read[schema.List[schema.Verification]](t, d.sandbox("GET", path+"?ref_id=a", ""), 200).Data
		if len(list) != 1 {
			t.Fatalf("there are %+v", list)
		}
		d.wantReply("afterwards", d.sandbox("GET", path+"/"+list[0].VerificationID, ""), exact)
		if got := d.metric("vayu_verify_calls_total"); got != 1 {
			t.Errorf("the bank was called %v times", got)
		}
	})
}

// Slow calls do not block each other.
func TestSlowCallsAreConcurrent(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *apiFixture) {
		began := time.Now()
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() { d.sandbox("POST", path, drop("0010", fmt.Sprint("slow ", i))).Want(t, "a slow one", 200) })
		}
		quick := make(chan time.Duration, 1)
		all.Go(func() {
			time.Sleep(2 * time.Second)
			began := time.Now()
			d.sandbox("POST", path, drop("0001", "quick")).Want(t, "a quick one", 200)
			quick <- time.Since(began)
		})
		all.Wait()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("together they took %s, want at most 30 s", took)
		}
		if took := <-quick; took > time.Second {
			t.Errorf("the quick one took %s, want at most 1 s", took)
		}
		if got := d.metric("vayu_verify_outcomes_total", "outcome", "success"); got != 201 {
			t.Errorf("%v outcomes are counted, want 201", got)
		}
	})
}

// A refusal records nothing.
func TestRefusedVerificationLeavesNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		good := drop("0001", "a")
		for body, want := range map[string]schema.Code{
			`{`: schema.InvalidJSON, `[]`: schema.InvalidRequest, `{}`: schema.ConflictingParameters,
			strings.Replace(good, `"001234560001"`, `1234560001`, 1):       schema.InvalidRequest,
			strings.Replace(good, `"001234560001"`, `"0012 3456 0001"`, 1): schema.InvalidAccountNumber,
			strings.Replace(good, "SBIN0000691", "SBINO000691", 1):         schema.InvalidIFSC,
			address("a@b@c", "b"):                                               schema.InvalidVPA,
			address("rahul@example.com", "b"):                                   schema.InvalidVPA,
			strings.Replace(good, "{", `{"vpa":"a@upi",`, 1):                    schema.ConflictingParameters,
			strings.Replace(good, "{", `{"name_match_tolerance":"foo",`, 1):     schema.InvalidRequest,
			strings.Replace(good, "Rahul Sharma", "!!", 1):                      schema.InvalidRequest,
			strings.Replace(good, "Rahul Sharma", strings.Repeat("a", 5000), 1): schema.InvalidRequest,
		} {
			if got := d.sandbox("POST", path, body); got.TextAt("error.code") != string(want) || got.Status != want.Status() || got.TextAt("status") != "error" {
				t.Errorf("%.150s: got %d %s, want %s", body, got.Status, got.Text, want)
			}
		}
		d.sandbox("POST", path, "").WantError(t, "no body", 400, schema.InvalidRequest, "")
		d.sandbox("POST", path+"?wait=1", good).WantError(t, "a parameter", 400, schema.InvalidRequest, "wait")
		d.sandbox("GET", path+"/x", "").WantError(t, "no id", 404, schema.NotFound, "")
		d.sandbox("GET", path+"/ver_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "").WantError(t, "another id", 404, schema.NotFound, "")
		d.sandbox("GET", path+"/%00", "").WantError(t, "no text", 404, schema.NotFound, "")
		if got := read[schema.List[schema.Verification]](t, d.sandbox("GET", path, ""), 200); len(got.Data) != 0 {
			t.Errorf("there are %+v", got.Data)
		}
		d.sandbox("POST", path, good).Want(t, "a good one", 200)
		for what, body := range map[string]string{"another number": drop("0002", "a"), "another name": strings.Replace(good, "Rahul", "Ravi", 1), "another method": address("success@upi", "a")} {
			d.sandbox("POST", path, body).WantError(t, what, 409, schema.DuplicateRefID, "ref_id")
		}
	})
}

// An unreachable live bank gives 502. A callback settles.
func TestALiveBank(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, d *apiFixture) {
		gone := d.live("POST", path, strings.Replace(address("rahul@upi", "x"), `,"ref_id":"x"`, "", 1))
		gone.WantError(t, "not reached", 502, schema.BankNetworkError, "")
		if gone.TextAt("status") != "pending" || gone.At("error.retryable") != false || gone.TextAt("verification_id") == "" {
			t.Errorf("got %s", gone.Text)
		}
		id := d.live("POST", path, drop("7654", "a"), "Prefer", "wait=0").Want(t, "live", 202).TextAt("verification_id")
		call := func(provider, reference, word string, header ...string) accesstest.Reply {
			t.Helper()
			if header == nil {
				header = []string{"X-Password", "sesame"}
			}
			text, err := json.Marshal(map[string]string{"reference": reference, "word": word})
			if err != nil {
				t.Fatal(err)
			}
			return d.Client.Do("", "POST", "/callbacks/"+provider, string(text), header...)
		}
		call("clerk", id, "found", "X-Password", "seed").WantError(t, "a lie", 401, schema.SignatureInvalid, "X-Password")
		call("sandbox", id, "found").WantError(t, "one that tells nothing", 404, schema.NotFound, "")
		call("clerk", "ver_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "found").WantError(t, "another reference", 404, schema.NotFound, "")
		call("clerk", id, "gibberish").WantError(t, "what cannot be acted upon", 500, schema.InternalError, "")
		for _, word := range []string{"found", "found", "missing"} {
			call("clerk", id, word).Want(t, word, 200)
			d.wantReply("after "+word, d.live("GET", path+"/"+id, ""), flagged)
		}
		for result, want := range map[string]float64{"taken": 3, "refused": 1, "unknown": 1, "failed": 1} {
			if got := d.metric("vayu_callbacks_total", "provider", "clerk", "result", result); got != want {
				t.Errorf("%v callbacks are %s, want %v", got, result, want)
			}
		}
		if got := d.metric("vayu_verify_contradictions_total", "provider", "clerk"); got != 1 {
			t.Errorf("%v contradictions are counted", got)
		}
	})
}
