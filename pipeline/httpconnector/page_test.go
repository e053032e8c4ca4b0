package httpconnector_test

import (
	"bufio"
	"encoding/pem"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/httpconnector"
	recharge "vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/verify/bank"
	verify "vayu/pipeline/verify/connector"
	"vayu/schema"
)

const (
	operatorPage = "../../docs/operators.md"
	bankPage     = "../../docs/banks.md"
)

// blocks returns the code blocks of a page in a language, such as "js". It fails the test unless there are n.
func blocks(t *testing.T, page, language string, n int) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?\n)```\n").FindAllSubmatch(text, -1) {
		all = append(all, string(m[1]))
	}
	if len(all) != n {
		t.Fatalf("%s has %d blocks of %s, want %d", page, len(all), language, n)
	}
	return all
}

// example runs the program of a page with Node, and returns the page's description file with the URL of the
// program. It fails the test if the program has more than most lines. Without Node it skips the test, or
// fails it if CI=true.
func example(t *testing.T, page, documentedURL string, most int) (file string) {
	t.Helper()
	program, description := blocks(t, page, "js", 1)[0], blocks(t, page, "yaml", 2)[0]
	if lines := strings.Count(program, "\n"); lines > most {
		t.Errorf("the program of %s has %d lines, want at most %d", page, lines, most)
	}
	return write(t, strings.Replace(description, documentedURL, startNode(t, program), 1))
}

// startNode runs a program, and returns the URL that the program prints as its first line.
func startNode(t *testing.T, program string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("node: %v", err)
		}
		t.Skipf("node: %v", err)
	}
	file := filepath.Join(t.TempDir(), "program.mjs")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, file)
	cmd.Env = append(os.Environ(), "PORT=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	in := bufio.NewReader(out)
	line, err := in.ReadString('\n')
	if err != nil {
		t.Fatalf("the program does not start: %v", err)
	}
	go func() { _, _ = in.WriteTo(io.Discard) }() // keep the pipe empty; ends with the program
	return strings.TrimSpace(line)
}

// wantOpen fails the test unless err leaves the outcome of a call open.
func wantOpen(t *testing.T, got any, err error) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("got %+v, want an error", got)
	case errors.Is(err, httpconnector.ErrNotSent):
		t.Errorf("got %v, want an error of a call that was sent", err)
	case errors.Is(err, httpconnector.ErrNotCalled):
		t.Errorf("got %v, want an error of a call that was made", err)
	}
}

func openOperator(t *testing.T, file string) order.Connection {
	t.Helper()
	c, err := recharge.Open(file, httpconnector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func openBank(t *testing.T, file string) bank.Connection {
	t.Helper()
	c, err := verify.Open(file, httpconnector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The example of the page works with its file.
func TestOperatorPageExample(t *testing.T) {
	t.Setenv("ACME_KEY", "a-key-of-acme")
	file := example(t, operatorPage, "http://127.0.0.1:9090", 40)
	operator := openOperator(t, file).Operator
	sample := order.Order{Type: schema.Prepaid, Operator: "Airtel", Circle: "Delhi", Amount: 199_50, CreatedAt: time.Now()}
	for number, want := range map[string]order.Answer{
		"9812345678": {Outcome: order.Succeeded},
		"9812345672": {Outcome: order.Pending},
		"9812345674": {Outcome: order.Failed, Code: schema.InvalidNumber},
	} {
		t.Run(number, func(t *testing.T) {
			o := sample
			o.Reference, o.Number = "txn_"+number, number
			expect := func(what string, a order.Answer, err error, want order.Answer) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", what, err)
				} else if diff := cmp.Diff(want, a); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			a, err := operator.Enquire(t.Context(), o)
			expect("an enquiry before the order", a, err, order.Answer{Outcome: order.Unknown})
			for range 2 {
				a, err := operator.Submit(t.Context(), o)
				expect("an order", a, err, want)
			}
			a, err = operator.Enquire(t.Context(), o)
			expect("an enquiry after the order", a, err, want)
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		t.Setenv("ACME_KEY", "another")
		sample.Reference, sample.Number = "txn_a", "9812345678"
		a, err := openOperator(t, file).Operator.Submit(t.Context(), sample)
		wantOpen(t, a, err)
	})
}

// The example of the page works with its file.
func TestBankPageExample(t *testing.T) {
	t.Setenv("ACME_KEY", "a-key-of-acme")
	file := example(t, bankPage, "http://127.0.0.1:9091", 45)
	b := openBank(t, file).Bank
	deposit := bank.Order{Method: schema.VerifyPennyDrop, IFSC: "SBIN0000691", CreatedAt: time.Now()}
	known := bank.Account{Name: "ASHA RAO", Status: "active"}
	flagged := bank.Account{Name: "ASHA RAO", Status: "dormant", Reasons: []string{bank.MuleAccount}}
	expect := func(t *testing.T, what string, a bank.Answer, err error, want bank.Answer) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for account, want := range map[string]bank.Answer{
		"123456780": {Outcome: bank.Found, Account: known},
		"123456782": {Outcome: bank.Pending},
		"123456784": {Outcome: bank.NotFound},
		"123456786": {Outcome: bank.Found, Account: flagged},
	} {
		t.Run(account, func(t *testing.T) {
			o := deposit
			o.Reference, o.Account = "ver_"+account, account
			a, err := b.Enquire(t.Context(), o)
			expect(t, "an enquiry before the deposit", a, err, bank.Answer{Outcome: bank.Unknown})
			first, err := b.Deposit(t.Context(), o)
			want.UTR = first.UTR
			expect(t, "a deposit", first, err, want)
			if (first.UTR != "") != (want.Outcome == bank.Found) {
				t.Errorf("the UTR is %q, want one only if the account is found", first.UTR)
			}
			a, err = b.Deposit(t.Context(), o)
			expect(t, "a repeated deposit", a, err, want)
			a, err = b.Enquire(t.Context(), o)
			expect(t, "an enquiry after the deposit", a, err, want)
		})
	}
	for vpa, want := range map[string]bank.Answer{
		"asha.rao@upi": {Outcome: bank.Found, Account: known}, "unknown@upi": {Outcome: bank.NotFound},
	} {
		t.Run(vpa, func(t *testing.T) {
			a, err := b.Resolve(t.Context(), bank.Order{Reference: "ver_" + vpa, Method: schema.VerifyUPI, VPA: vpa, CreatedAt: time.Now()})
			expect(t, "a lookup", a, err, want)
		})
	}
	t.Run("wrong key", func(t *testing.T) {
		t.Setenv("ACME_KEY", "another")
		deposit.Reference, deposit.Account = "ver_a", "000123456789"
		a, err := openBank(t, file).Bank.Deposit(t.Context(), deposit)
		wantOpen(t, a, err)
	})
}

// fullFile writes the description file of a page that has every key, with the certificate that it names.
func fullFile(t *testing.T, page string) string {
	t.Helper()
	file := write(t, blocks(t, page, "yaml", 2)[1])
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "bharat-ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The file with every key is valid.
func TestOperatorPageFullFile(t *testing.T) {
	t.Setenv("BHARAT_CLIENT", "c")
	t.Setenv("BHARAT_SECRET", "0123456789")
	c := openOperator(t, fullFile(t, operatorPage))
	if c.Name != "bharat-pay" {
		t.Errorf("c.Name = %q, want \"bharat-pay\"", c.Name)
	}
	if len(c.Operators) != 3 {
		t.Errorf("len(c.Operators) = %v, want 3", len(c.Operators))
	}
	if c.Receiver == nil {
		t.Error("c.Receiver is nil")
	}
	if c.Reverser == nil {
		t.Error("c.Reverser is nil")
	}
	if c.Directory == nil {
		t.Error("c.Directory is nil")
	}
}

// The file with every key is valid.
func TestBankPageFullFile(t *testing.T) {
	t.Setenv("BHARAT_PASSWORD", "c")
	t.Setenv("BHARAT_SECRET", "0123456789")
	c := openBank(t, fullFile(t, bankPage))
	if c.Name != "bharat-bank" {
		t.Errorf("c.Name = %q, want \"bharat-bank\"", c.Name)
	}
	if c.Methods != nil {
		t.Errorf("c.Methods = %v, want nil", c.Methods)
	}
	if c.Receiver == nil {
		t.Error("c.Receiver is nil")
	}
	if c.Concurrency != 500 {
		t.Errorf("c.Concurrency = %v, want 500", c.Concurrency)
	}
}

// leastKeys is the least number of keys, fields and values that a connector has. With fewer, knownKeys would
// have missed some.
const leastKeys = 60

// A page documents every key, field and value of its description files.
func TestPageIsComplete(t *testing.T) {
	t.Parallel()
	for name, c := range connectors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(c.page)
			if err != nil {
				t.Fatal(err)
			}
			faults := c.open(write(t, c.unknown))
			if faults == nil {
				t.Fatal("a file with unknown keys is accepted")
			}
			keys := knownKeys(faults)
			if len(keys) < leastKeys {
				t.Fatalf("the faults list %d keys, want at least %d: %v", len(keys), leastKeys, faults)
			}
			for key := range keys {
				if !mentions(string(text), key) {
					t.Errorf("%s does not mention %q", c.page, key)
				}
			}
		})
	}
}

// knownKeys returns the keys, fields and values of a description file that faults of unknown ones list.
func knownKeys(faults error) map[string]bool {
	keys := map[string]bool{}
	for line := range strings.Lines(faults.Error()) {
		line, _, _ = strings.Cut(line, " (/")
		if _, known, ok := strings.Cut(line, "known here: "); ok {
			for key := range strings.SplitSeq(strings.TrimSpace(known), ", ") {
				keys[key] = true
			}
		}
		if _, known, ok := strings.Cut(line, "must be "); ok && !strings.Contains(known, " a ") && !strings.Contains(known, "such as") {
			for _, key := range regexp.MustCompile(`[a-z_]{4,}`).FindAllString(known, -1) {
				keys[key] = true
			}
		}
	}
	return keys
}

// mentions reports whether a page has a key as code, as a placeholder, or as the key of an example.
func mentions(page, key string) bool {
	return strings.Contains(page, "`"+key+"`") || strings.Contains(page, "`{"+key+"}`") || strings.Contains(page, "  "+key+": ")
}
