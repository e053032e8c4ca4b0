package account_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/account"
)

const signatureName = "X-SERVICE-Request-Signature"

func TestASignedRequestIsTakenOnce(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house) {
		made := h.live("POST", "/v1/keys", `{"require_signature":true,"scopes":["account:read","keys:manage"]}`).want(t, "making", 201)
		key, secret := made.said("key"), made.said("signing_secret")
		if !strings.HasPrefix(secret, "sgn_") || made.at("data.require_signature") != true {
			t.Fatalf("got %s", made.text)
		}
		const path = "/v1/usage?from=2026-11-01&to=2026-11-%321" // signed as it is sent
		sign := func(method, target, body string, after time.Duration) string {
			return account.Sign(secret, method, target, []byte(body), h.Now().Add(after))
		}
		h.do(key, "GET", path, "").wantError(t, "without", 401, "signature_required", signatureName)
		good := sign("GET", path, "", 0)
		_, mac, _ := strings.Cut(good, ",")
		for what, header := range map[string]string{
			"empty": "", "no time": mac, "cut": good[:len(good)-1], "longer": good + "0", "no hex": good[:len(good)-1] + "g",
			"a blank": strings.Replace(good, ",", ", ", 1), "a sign": strings.Replace(good, "t=", "t=+", 1), "too early": sign("GET", path, "", -301*time.Second),
			"too late": sign("GET", path, "", 301*time.Second), "another path": sign("GET", "/v1/usage", "", 0), "another spelling": sign("GET", strings.Replace(path, "%32", "2", 1), "", 0),
			"another method": sign("POST", path, "", 0), "a body": sign("GET", path, "{}", 0), "another secret": account.Sign("sgn_x", "GET", path, nil, h.Now()),
			"another time": strings.Replace(good, good[:12], good[:11]+"9", 1),
		} {
			h.do(key, "GET", path, "", signatureName, header).wantError(t, what, 401, "signature_invalid", signatureName)
		}
		h.do(key, "GET", path, "", signatureName, good, signatureName, good).wantError(t, "twice", 401, "signature_invalid", signatureName)
		if r := h.do(key, "GET", path, "", signatureName, good).want(t, "right", 200); r.header.Get("Www-Authenticate") != "" {
			t.Error("a 200 asks for a key")
		}
		h.do(key, "GET", path, "", signatureName, good).wantError(t, "replayed", 401, "signature_invalid", signatureName)
		h.do(key, "GET", path, "", signatureName, good[:15]+strings.ToUpper(good[15:])).wantError(t, "replayed in capitals", 401, "signature_invalid", signatureName)
		h.do(key, "GET", path, "", signatureName, sign("GET", path, "", 300*time.Second)).want(t, "at the window's end", 200)
		h.do(key, "GET", path, "", signatureName, sign("GET", path, "", -300*time.Second)).want(t, "at the window's begin", 200)
		// What lies in the future stays spent for as long as its time would let it in.
		ahead := sign("GET", "/v1/account", "", 299*time.Second)
		h.do(key, "GET", "/v1/account", "", signatureName, ahead).want(t, "ahead", 200)
		h.pass(598 * time.Second)
		if err := account.PurgeOnce(h.Service, t.Context()); err != nil {
			t.Fatal(err)
		}
		h.do(key, "GET", "/v1/account", "", signatureName, ahead).wantError(t, "replayed late", 401, "signature_invalid", signatureName)

		body := `{"grace_seconds":100}`
		target := "/v1/keys/" + made.said("data.id") + "/rotate"
		next := h.do(key, "POST", target, body, signatureName, sign("POST", target, body, 0)).want(t, "rotating", 201)
		if s := next.said("signing_secret"); s == "" || s == secret || next.at("data.require_signature") != true {
			t.Errorf("got %s", next.text)
		}
		h.do(next.said("key"), "GET", "/v1/account", "", signatureName, sign("GET", "/v1/account", "", 0)).wantError(t, "the old secret", 401, "signature_invalid", signatureName)
		newer := account.Sign(next.said("signing_secret"), "GET", "/v1/account", nil, h.Now())
		h.do(next.said("key"), "GET", "/v1/account", "", signatureName, newer).want(t, "the new secret", 200)
	})
}

func TestASignatureSentTwiceAtOnceIsTakenOnce(t *testing.T) {
	t.Parallel()
	eachHouse(t, func(t *testing.T, h *house) {
		made := h.live("POST", "/v1/keys", `{"require_signature":true}`).want(t, "making", 201)
		header := account.Sign(made.said("signing_secret"), "GET", "/v1/account", nil, h.Now())
		var taken atomic.Int64
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() {
				if h.do(made.said("key"), "GET", "/v1/account", "", signatureName, header).status == http.StatusOK {
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

// Whatever the header says: no panic, and only one form is right.
func FuzzParseSignature(f *testing.F) {
	mac := strings.Repeat("0a", 32)
	for _, text := range []string{"t=1,v1=" + mac, "t=,v1=", "t=1", ",", "t=-1,v1=" + mac, "v1=" + mac + ",t=1", "t=1,v1=" + mac + ",v1=" + mac, "t=9999999999999,v1=" + mac} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !account.ParseSignature(text) {
			return
		}
		var at uint64
		var sum []byte
		if n, err := fmt.Sscanf(text, "t=%d,v1=%x", &at, &sum); err != nil || n != 2 || len(sum) != 32 || len(text) > 12+6+64 {
			t.Errorf("%q is taken", text)
		}
	})
}
