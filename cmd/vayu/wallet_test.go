package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// newLedgerStore makes a data directory with the account "default", and keeps its store
// open as a running service does.
func newLedgerStore(t *testing.T) (data string, db *sqlstore.DB) {
	t.Helper()
	data = t.TempDir()
	db = sqlstoretest.Open(t, sqlstore.Config{Data: data})
	if out, err := command(t.Context(), "account", "create", "default", "--data", data); err != nil {
		t.Fatal(out, err)
	}
	return data, db
}

// wantOutput runs a command, and checks that its output or error contains want.
func wantOutput(t *testing.T, data, want string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), append(args, "--data", data)...)
	text := out
	if err != nil {
		text += userMessage(err)
	}
	if !strings.Contains(text, want) {
		t.Errorf("%s: got %s, want %s", strings.Join(args, " "), text, want)
	}
	return text
}

func TestMoneyIsCreditedAndShown(t *testing.T) {
	t.Parallel()
	data, _ := newLedgerStore(t)
	for _, c := range [][]string{
		{"₹5,000, success; available now: ₹5,000", "wallet", "credit", "--amount", "5000", "--note", "UTR1"},
		{"₹199.50, success; available now: ₹5,199.50", "wallet", "credit", "--account", "default", "--amount", "199.5", "--note", "UTR2"},
		{"₹7, success; available now: ₹7", "wallet", "credit", "--amount", "7", "--note", "UTR1", "--mode", "sandbox"},
		{`--note: The account was already credited with the note "UTR1": pay_`, "wallet", "credit", "--amount", "5000", "--note", "UTR1"},
		{"If it is another transfer, use the reference of that transfer.", "wallet", "credit", "--amount", "5000", "--note", "UTR1"},
		{"--amount: The amount must be between ₹1 and ₹10,00,000.", "wallet", "credit", "--amount", "0", "--note", "x"},
		{"--amount: The amount can have at most two decimals.", "wallet", "credit", "--amount", "1.001", "--note", "x"},
		{"--amount: The amount must be a number.", "wallet", "credit", "--amount", "5,000", "--note", "x"},
		{"--note: A note has 1 to 255 printable characters.", "wallet", "credit", "--amount", "5", "--note", "a\nb"},
		{"neither live nor sandbox", "wallet", "credit", "--amount", "5", "--note", "x", "--mode", "tset"},
		{"required flag(s) \"note\"", "wallet", "credit", "--amount", "5"},
		{"there is no account", "wallet", "credit", "--amount", "5", "--note", "x", "--account", "nobody"},
		{"live     ₹5,199.50  ₹0", "wallet", "show"},
		{"sandbox  ₹7         ₹0", "wallet", "show", "--account", "default"},
		{"there is no account", "wallet", "show", "--account", "nobody"},
	} {
		wantOutput(t, data, c[0], c[1:]...)
	}
}

func TestAPaymentIsSettledOnce(t *testing.T) {
	t.Parallel()
	data, db := newLedgerStore(t)
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		for _, id := range []string{"pay_1", "pay_2"} {
			if _, err := tx.Exec(`INSERT INTO payment (id, account_id, mode, ref_id, method, amount, state, error_code, note, created_at)
				SELECT $1, id, 'live', $1, 'upi', 25050, 'pending', '', '', 0 FROM account`, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list := wantOutput(t, data, "pay_1", "wallet", "pending")
	if !regexp.MustCompile(`pay_2 +default +live +₹250\.50 +upi +pay_2 +1970-01-01T00:00:00Z`).MatchString(list) {
		t.Errorf("the list: %s", list)
	}
	for _, c := range [][]string{
		{"set --succeeded or --failed", "wallet", "settle", "pay_1"},
		{"set --succeeded or --failed", "wallet", "settle", "pay_1", "--succeeded", "--failed"},
		{"There is no such payment.", "wallet", "settle", "pay_3", "--failed"},
		{"--note: A successful payment needs the reference", "wallet", "settle", "pay_1", "--succeeded"},
		{"pay_1  ₹250.50, success; available now: ₹250.50", "wallet", "settle", "pay_1", "--succeeded", "--note", "UTR9"},
		{"payment pay_1 is success already", "wallet", "settle", "pay_1", "--failed"},
		{`already credited with the note "UTR9"`, "wallet", "settle", "pay_2", "--succeeded", "--note", "UTR9"},
		{`already credited with the note "UTR9": pay_1, ₹250.50 on `, "wallet", "credit", "--amount", "250.5", "--note", "UTR9"},
		{"pay_2  ₹250.50, failed; available now: ₹250.50", "wallet", "settle", "pay_2", "--failed"},
		{"ok    ", "audit", "verify"},
		{"2 postings, 0 recharges, 2 payments: 0 faults", "ledger", "verify"},
	} {
		wantOutput(t, data, c[0], c[1:]...)
	}
	if list := wantOutput(t, data, "ID", "wallet", "pending"); strings.Contains(list, "pay_") {
		t.Errorf("the list: %s", list)
	}
}
