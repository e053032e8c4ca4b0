package main

import (
	"strings"
	"testing"

	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/wallet"
)

func TestOnlyAClosedAccountIsErased(t *testing.T) {
	t.Parallel()
	data, db := newLedgerStore(t)
	erase := []string{"account", "erase", "default"}
	wantOutput(t, data, "add --yes", erase...)
	wantOutput(t, data, "there is no account", "account", "erase", "nobody", "--yes")
	wantOutput(t, data, "success", "wallet", "credit", "--amount", "10", "--note", "UTR1")
	wantOutput(t, data, "default is not closed: it has 1000 paise in its live wallet", append(erase, "--yes")...)
	sqlstoretest.Exec(t, db, "UPDATE wallet SET available = 0")
	out := wantOutput(t, data, "no row of these tables has personal data of it", append(erase, "--yes")...)
	for _, table := range []string{"webhook", "event", "recharge", "verification", "api_key"} {
		if !strings.Contains(out, "\n"+table+" ") {
			t.Errorf("the proof does not name %s:\n%s", table, out)
		}
	}
	wantOutput(t, data, "", "audit", "verify")
	wantOutput(t, data, "erased-acc_", "account", "list")
	sqlstoretest.Exec(t, db, "UPDATE wallet SET available = 1000") // as in the ledger
	if report, err := wallet.Verify(t.Context(), db, ""); err != nil || report.FaultCount != 0 {
		t.Errorf("the ledger: %v, %v", report.Faults, err)
	}
}
