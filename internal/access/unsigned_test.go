package access

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"vayu/internal/access/apikey"
	"vayu/internal/access/signature"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// An attacker with only the key of an account that signs cannot use up its quota by rejected
// requests.
func TestUnsignedRequestsUseNoQuota(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "five")
		signing := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live, RequireSignature: true})
		plain := addKey(t, db, apikey.Spec{Account: acc, World: schema.Live})
		s.refresh()
		ask := func(key, accept, signed string) int {
			r := httptest.NewRequest(http.MethodGet, "/v1/aqi", nil)
			r.Header.Set("Authorization", "Bearer "+key)
			r.Header.Set("Accept", accept)
			if signed != "" {
				r.Header.Set(signature.Header, signed)
			}
			w := httptest.NewRecorder()
			s.api.ServeHTTP(w, r)
			return w.Code
		}
		used := func(want int64) {
			t.Helper()
			if got := s.quotaOf(acc).Used; got != want {
				t.Errorf("%d calls are used, want %d", got, want)
			}
		}
		for range 10 {
			if status := ask(signing.Key, "text/html", ""); status != http.StatusNotAcceptable {
				t.Errorf("got %d", status)
			}
		}
		used(0)
		pass, c := s.admitted(signing.Key)
		pass.End(c, http.StatusRequestEntityTooLarge)
		used(0)
		signed := signature.Sign(signing.SigningSecret, "GET", "/v1/aqi", nil, time.Now())
		if status := ask(signing.Key, "application/json", signed); status != http.StatusOK {
			t.Errorf("got %d", status)
		}
		used(1)
		if status := ask(plain.Key, "text/html", ""); status != http.StatusNotAcceptable {
			t.Errorf("got %d", status)
		}
		used(2)
	})
}
