package access_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/signature"
)

const headerName = "X-SERVICE-Request-Signature"

func TestSignedRequestIsAcceptedOnce(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"require_signature":true,"scopes":["account:read","keys:manage"]}`).Want(t, "making", 201)
		key, secret := made.TextAt("key"), made.TextAt("signing_secret")
		if !strings.HasPrefix(secret, "sgn_") {
			t.Fatalf("signing_secret = %q, want the prefix sgn_", secret)
		}
		if got := made.At("data.require_signature"); got != true {
			t.Fatalf("require_signature = %v, want true", got)
		}
		const path = "/v1/usage?from=2026-11-01&to=2026-11-%321" // signed as it is sent
		sign := func(method, target, body string, after time.Duration) string {
			return signature.Sign(secret, method, target, []byte(body), h.Now().Add(after))
		}
		h.do(key, "GET", path, "").WantError(t, "without", 401, "signature_required", headerName)
		good := sign("GET", path, "", 0)
		_, mac, _ := strings.Cut(good, ",")
		for what, header := range map[string]string{
			"empty": "", "no time": mac, "cut": good[:len(good)-1], "longer": good + "0", "no hex": good[:len(good)-1] + "g",
			"a blank": strings.Replace(good, ",", ", ", 1), "a sign": strings.Replace(good, "t=", "t=+", 1), "too early": sign("GET", path, "", -301*time.Second),
			"too late": sign("GET", path, "", 301*time.Second), "another path": sign("GET", "/v1/usage", "", 0), "another spelling": sign("GET", strings.Replace(path, "%32", "2", 1), "", 0),
			"another method": sign("POST", path, "", 0), "a body": sign("GET", path, "{}", 0), "another secret": signature.Sign("sgn_x", "GET", path, nil, h.Now()),
			"another time": strings.Replace(good, good[:12], good[:11]+"9", 1),
		} {
			h.do(key, "GET", path, "", headerName, header).WantError(t, what, 401, "signature_invalid", headerName)
		}
		h.do(key, "GET", path, "", headerName, good, headerName, good).WantError(t, "twice", 401, "signature_invalid", headerName)
		if r := h.do(key, "GET", path, "", headerName, good).Want(t, "right", 200); r.Header.Get("Www-Authenticate") != "" {
			t.Error("a 200 asks for a key")
		}
		h.do(key, "GET", path, "", headerName, good).WantError(t, "replayed", 401, "signature_invalid", headerName)
		h.do(key, "GET", path, "", headerName, good[:15]+strings.ToUpper(good[15:])).WantError(t, "replayed in capitals", 401, "signature_invalid", headerName)
		h.do(key, "GET", path, "", headerName, sign("GET", path, "", 300*time.Second)).Want(t, "at the window's end", 200)
		h.do(key, "GET", path, "", headerName, sign("GET", path, "", -300*time.Second)).Want(t, "at the window's begin", 200)
		// A signature with a future time stays spent as long as its time would be accepted.
		ahead := sign("GET", "/v1/account", "", 299*time.Second)
		h.do(key, "GET", "/v1/account", "", headerName, ahead).Want(t, "ahead", 200)
		h.clock.Advance(598 * time.Second)
		if err := access.PurgeOnce(h.Service, t.Context()); err != nil {
			t.Fatal(err)
		}
		h.do(key, "GET", "/v1/account", "", headerName, ahead).WantError(t, "replayed late", 401, "signature_invalid", headerName)

		body := `{"grace_seconds":100}`
		target := "/v1/keys/" + made.TextAt("data.id") + "/rotate"
		next := h.do(key, "POST", target, body, headerName, sign("POST", target, body, 0)).Want(t, "rotating", 201)
		if s := next.TextAt("signing_secret"); s == "" || s == secret {
			t.Errorf("signing_secret = %q, want another than %q", s, secret)
		}
		if got := next.At("data.require_signature"); got != true {
			t.Errorf("require_signature = %v, want true", got)
		}
		h.do(next.TextAt("key"), "GET", "/v1/account", "", headerName, sign("GET", "/v1/account", "", 0)).WantError(t, "the old secret", 401, "signature_invalid", headerName)
		newer := signature.Sign(next.TextAt("signing_secret"), "GET", "/v1/account", nil, h.Now())
		h.do(next.TextAt("key"), "GET", "/v1/account", "", headerName, newer).Want(t, "the new secret", 200)
	})
}

// TestASignatureOfLinesCoversEveryPart: no part can be changed, dropped or moved into
// another.
func TestASignatureOfLinesCoversEveryPart(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"require_signature":true,"scopes":["keys:manage","account:read"]}`).Want(t, "making", 201)
		key, secret := made.TextAt("key"), made.TextAt("signing_secret")
		const target, idempotency, version, body = "/v1/keys", "a.b", "2026-11-01", `{"scopes":["account:read"]}`
		send := func(change func(*signature.Signed), headers ...string) accesstest.Reply {
			h.clock.Advance(time.Second) // for a new signature
			r := signature.Signed{Method: "POST", Target: target, IdempotencyKey: idempotency, Version: version, Body: []byte(body)}
			if change != nil {
				change(&r)
			}
			return h.do(key, "POST", target, body, slices.Concat(headers, []string{headerName, r.Sign(secret, h.Now())})...)
		}
		both := []string{"Idempotency-Key", idempotency, "X-SERVICE-Version", version}
		for name, change := range map[string]func(*signature.Signed){
			"another method":            func(r *signature.Signed) { r.Method = "PUT" },
			"another path":              func(r *signature.Signed) { r.Target = "/v1/account" },
			"another key":               func(r *signature.Signed) { r.IdempotencyKey = "a.c" },
			"no key":                    func(r *signature.Signed) { r.IdempotencyKey = "" },
			"no version":                func(r *signature.Signed) { r.Version = "" },
			"key and version exchanged": func(r *signature.Signed) { r.IdempotencyKey, r.Version = r.Version, r.IdempotencyKey },
			"key moved to the path":     func(r *signature.Signed) { r.Target, r.IdempotencyKey = target+idempotency, "" },
			"version moved to the body": func(r *signature.Signed) { r.Version, r.Body = "", []byte(version+body) },
			"no body":                   func(r *signature.Signed) { r.Body = nil },
		} {
			send(change, both...).WantError(t, name, 401, "signature_invalid", headerName)
		}
		send(nil, both[2:]...).WantError(t, "the key removed on the way", 401, "signature_invalid", headerName)
		send(nil, both[:2]...).WantError(t, "the version removed on the way", 401, "signature_invalid", headerName)
		send(nil, both...).Want(t, "as it was signed", 201)
		send(func(r *signature.Signed) { r.IdempotencyKey, r.Version = "", "" }).Want(t, "without both headers", 201)

		relabelled := strings.Replace(signature.Sign(secret, "POST", target, []byte(body), h.Now()), "v1=", "v2=", 1)
		h.do(key, "POST", target, body, headerName, relabelled).WantError(t, "v1 sent as v2", 401, "signature_invalid", headerName)
		h.clock.Advance(time.Second)
		h.do(key, "POST", target, body, "Idempotency-Key", "old", headerName, signature.Sign(secret, "POST", target, []byte(body), h.Now())).Want(t, "v1 of older clients", 201)
	})
}

// TestTheSignatureOfLinesIsWhatIsDocumented in the API's description.
func TestTheSignatureOfLinesIsWhatIsDocumented(t *testing.T) {
	t.Parallel()
	r := signature.Signed{Method: "POST", Target: "/v1/bank/verify", IdempotencyKey: "payee-88", Body: []byte(`{"vpa":"asharao@okhdfcbank"}`)}
	const want = "t=1795229706,v2=87ebda7bfbae6ba07cedc0473f306bfda5f700a4041dc304adaa397f44a09a8d"
	if got := r.Sign("sgn_example", time.Unix(1795229706, 0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConcurrentReplayIsRejected(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"require_signature":true}`).Want(t, "making", 201)
		header := signature.Sign(made.TextAt("signing_secret"), "GET", "/v1/account", nil, h.Now())
		var taken atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if h.do(made.TextAt("key"), "GET", "/v1/account", "", headerName, header).Status == http.StatusOK {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("taken %d times", n)
		}
	})
}

// No header causes a panic, and only one form is accepted.
func FuzzParseSignature(f *testing.F) {
	mac := strings.Repeat("0a", 32)
	for _, text := range []string{"t=1,v1=" + mac, "t=,v1=", "t=1", ",", "t=-1,v1=" + mac, "v1=" + mac + ",t=1", "t=1,v1=" + mac + ",v1=" + mac, "t=9999999999999,v1=" + mac, "t=1,v2=" + mac, "t=1,v3=" + mac, "t=1,v1=" + mac + ",v2=" + mac} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !access.ParseSignature(text) {
			return
		}
		var at uint64
		var sum []byte
		switch n, err := fmt.Sscanf(strings.Replace(text, ",v2=", ",v1=", 1), "t=%d,v1=%x", &at, &sum); {
		case err != nil:
			t.Error(err)
		case n != 2:
			t.Errorf("n = %v, want 2", n)
		case len(sum) != 32:
			t.Errorf("len(sum) = %v, want 32", len(sum))
		case len(text) > 12+6+64:
			t.Errorf("len(text) = %v, want at most %v", len(text), 12+6+64)
		}
	})
}
