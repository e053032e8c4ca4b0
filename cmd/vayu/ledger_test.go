package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vayu/cmd/vayu/tool"
	"vayu/internal/sqlstore"
)

func TestLedgerVerifyWithRunningService(t *testing.T) {
	t.Parallel()
	data, db := newLedgerStore(t)
	wantOutput(t, data, "ok    0 postings, 0 recharges, 0 payments: 0 faults", "ledger", "verify")
	wantOutput(t, data, "success", "wallet", "credit", "--amount", "5000", "--note", "UTR1")
	whole := wantOutput(t, data, "ok    2 postings, 0 recharges, 1 payments: 0 faults", "ledger", "verify", "--account", "default")
	for _, line := range []string{"live  available  ₹5,000\n", "live  cash       -₹5,000\n"} {
		if !strings.Contains(whole, line) {
			t.Errorf("the ledgers are %s, want %s", whole, line)
		}
	}
	wantOutput(t, data, "there is no account", "ledger", "verify", "--account", "nobody")

	if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("UPDATE wallet SET available = available + 1")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	out, err := command(t.Context(), "ledger", "verify", "--data", data)
	if !errors.Is(err, tool.ErrReported) {
		t.Errorf("got the error %v, want one", err)
	}
	for _, line := range []string{
		"FAIL  default live: the wallet has ₹5,000.01 available, and its postings add up to ₹5,000\n",
		"FAIL  2 postings, 0 recharges, 1 payments: 1 faults\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("got %s, want %s", out, line)
		}
	}
}
