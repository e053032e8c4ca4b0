package verify_test

import (
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/pipeline/verify/sandbox"
	"vayu/schema"
)

// The account number alone determines a sandbox answer.
func TestSandboxIsStateless(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		tenant := accesstest.AddTenant(t, db, "shop")
		events := outbox.New(outbox.Config{DB: db})
		settings := verify.DefaultSettings()
		settings.Cache = 24 * time.Hour
		s, err := verify.New(verify.Config{Options: transaction.Options{DB: db, Cipher: accesstest.ClaimedCipher(t, db), Events: events}, Settings: settings,
			PublicURL: func() string { return "" }, Connections: []bank.Connection{sandbox.Connection(nil)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Rahul Sharma", "Priya Nair"} {
			r, _, err := s.Do(t.Context(), request.Request{Origin: transaction.Origin{Owner: tenant.In(schema.Sandbox)}, Method: schema.VerifyPennyDrop,
				Private: request.Private{Account: "123456780001", IFSC: "SBIN0000691", Name: name}, Tolerance: -1}, 5*time.Second, false)
			if err != nil || r.Beneficiary.NameMatch != schema.NameExact || !r.Verified {
				t.Errorf("%s: %s, verified %v, %v", name, r.Beneficiary.NameMatch, r.Verified, err)
			}
		}
	})
}
