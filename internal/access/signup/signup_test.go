package signup_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/access/signup"
	"vayu/internal/config"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

func TestSandboxKeyAtOnceAndLiveKeyWhenConfirmed(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		id, sandbox := s.made("Asha.K+vayu@example.co.in")
		if got := s.works(sandbox); got != http.StatusOK || !strings.HasPrefix(sandbox, "sk_test_") {
			t.Fatalf("%s: got %d, want 200", sandbox[:8], got)
		}
		token := s.token(id)
		if info, err := os.Stat(s.file(id)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of the mail: got %v, %v, want mode 0600", info.Mode(), err)
		}
		if !strings.Contains(s.log.String(), s.file(id)) {
			t.Errorf("the log has no path of the mail:\n%s", &s.log)
		}
		if strings.Contains(s.log.String(), "example.co.in") {
			t.Errorf("the log has the e-mail address:\n%s", &s.log)
		}
		s.clock.Advance(24*time.Hour - time.Minute)
		first := s.confirm(token)
		live, _ := first.Body["key"].(string)
		if first.Body["outcome"] != "confirmed" || !strings.HasPrefix(live, "sk_live_") {
			t.Fatalf("got %d %v with the key %q, want a live key", first.Status, first.Body["outcome"], live)
		}
		if got := s.works(live); got != http.StatusOK {
			t.Fatalf("a call with the live key: got %d, want 200", got)
		}
		if got := s.Do(live, http.MethodPost, "/v1/keys", `{"name":"further","scopes":["aqi:read"]}`).Status; got != http.StatusCreated {
			t.Errorf("making a further key: got %d, want 201", got)
		}
		again := s.confirm(token)
		if got := again.Body["outcome"]; got != "already_confirmed" {
			t.Errorf("the second confirmation: got %d %v, want already_confirmed", again.Status, got)
		}
		if got, ok := again.Body["key"]; ok {
			t.Errorf("the second confirmation: got the key %v, want none", got)
		}
		s.clock.Advance(8 * 24 * time.Hour)
		s.process()
		for _, key := range []string{sandbox, live} {
			if got := s.works(key); got != http.StatusOK {
				t.Errorf("%s, a week later: got %d, want 200", key[:8], got)
			}
		}
		var actions []string
		for _, row := range s.Do(live, http.MethodGet, "/v1/audit", "").Body["data"].([]any) {
			actions = append(actions, row.(map[string]any)["action"].(string))
		}
		if diff := cmp.Diff([]string{"key.create", "key.create", "account.confirm", "account.create"}, actions); diff != "" {
			t.Errorf("the audit log (-want +got):\n%s", diff)
		}
		if got := s.Do(live, http.MethodGet, "/v1/account", "").Body["plan"]; got != "free" {
			t.Errorf("the plan is %v, want free", got)
		}
		for event, want := range map[string]float64{"requested": 1, "confirmed": 1, "mail_sent": 1, "erased": 0} {
			if got := s.count(event); got != want {
				t.Errorf("%s: got %v, want %v", event, got, want)
			}
		}
	})
}

// A key that was rotated out may have leaked. It still expires after its grace period.
func TestConfirmationKeepsTheExpiryOfARotatedKey(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		id, old := s.made("asha@example.com")
		var next apikey.Created
		err := s.db.Update(t.Context(), func(tx *sqlstore.Tx) error {
			keys, err := apikey.List(tx, id, schema.Sandbox, "", 1, s.clock.Now())
			if err == nil {
				next, _, err = apikey.Rotate(tx, s.Cipher, keys[0].ID, time.Hour, 0, s.clock.Now())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.confirm(s.token(id)); got.Body["outcome"] != "confirmed" {
			t.Fatalf("got %d %v, want a confirmed account", got.Status, got.Body)
		}
		s.clock.Advance(48 * time.Hour)
		if got := s.works(old); got != http.StatusUnauthorized {
			t.Errorf("the old key: got %d, want 401", got)
		}
		if got := s.works(next.Key); got != http.StatusOK {
			t.Errorf("the new key: got %d, want 200", got)
		}
	})
}

// The confirmed address can become the first member, who is an owner. The mail with a link is due at once.
func TestTheAddressBecomesTheFirstMember(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		id, _ := s.made("asha@example.com")
		token := s.token(id)
		for _, outcome := range []string{"confirmed", "already_confirmed"} {
			if got := s.post("/v1/signup/confirm", map[string]any{"token": token, "member": true}); got.Body["outcome"] != outcome {
				t.Fatalf("got %d %s, want %s", got.Status, got.Text, outcome)
			}
		}
		var members, due int
		err := s.db.View(t.Context()).QueryRow(`SELECT (SELECT count(*) FROM member WHERE account_id = $1 AND email = 'asha@example.com' AND role = 'owner'),
			(SELECT count(*) FROM sign_in_link WHERE mail_due_at IS NOT NULL)`, id).Scan(&members, &due)
		if err != nil || members != 1 || due != 1 {
			t.Errorf("%d members and %d mails, %v, want one of each", members, due, err)
		}
	})
}

// The owner of a known address gets the same reply and a mail, and learns only from the link that there is an account.
func TestKnownAddressGetsTheSameReply(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		first, _ := s.made("asha@example.com")
		if got := s.confirm(s.token(first)).Body["outcome"]; got != "confirmed" {
			t.Fatalf("got %v, want confirmed", got)
		}
		known, unknown := s.signUp("ASHA@example.com"), s.signUp("ravi@example.com")
		shape := func(r accesstest.Reply) string {
			return fmt.Sprint(r.Status, regexp.MustCompile(`acc_\w+|sk_test_\w+`).ReplaceAllString(r.Text, "…"))
		}
		if diff := cmp.Diff(shape(unknown), shape(known)); diff != "" {
			t.Errorf("the replies differ (-unknown +known):\n%s", diff)
		}
		id, key := known.Body["account_id"].(string), known.Body["key"].(string)
		r := s.confirm(s.token(id))
		if got := r.Body["outcome"]; got != "address_in_use" {
			t.Errorf("got %v, want address_in_use", got)
		}
		if got, ok := r.Body["key"]; ok {
			t.Errorf("got the key %v, want none", got)
		}
		s.clock.Advance(7*24*time.Hour + time.Second)
		s.process()
		if got := s.works(key); got != http.StatusUnauthorized {
			t.Errorf("the key of the second account, after a week: got %d, want 401", got)
		}
	})
}

// Two links of one address are opened at the same time.
func TestOneAccountOfAnAddressIsConfirmed(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		var tokens []string
		for range 3 {
			id, _ := s.made("asha@example.com")
			tokens = append(tokens, s.token(id))
		}
		outcomes := make(chan string, len(tokens))
		var all sync.WaitGroup
		for _, token := range tokens {
			all.Go(func() {
				outcome, _ := s.confirm(token).Body["outcome"].(string)
				outcomes <- outcome
			})
		}
		all.Wait()
		close(outcomes)
		got := map[string]int{}
		for outcome := range outcomes {
			got[outcome]++
		}
		if diff := cmp.Diff(map[string]int{"confirmed": 1, "address_in_use": 2}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestInvalidAddressesAreRefused(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", func(c *signup.Config) { c.Limited = false }, func(t *testing.T, s *site) {
		for _, email := range []string{
			"", "asha", "asha@", "@example.com", "asha@example", "asha@@example.com", "a b@example.com", "asha@example..com", ".asha@example.com",
			"Asha <asha@example.com>", `"asha"@example.com`, "asha@[192.0.2.1]", "asha@example.com,ravi@example.com", "आशा@example.com", "asha@उदाहरण.भारत",
			"asha@example.com\r\nBcc: ravi@example.com", "asha@example.com\n", "asha\x00@example.com", "asha@example.com>",
			strings.Repeat("a", 243) + "@example.com",
		} {
			wantInvalid(t, s.signUp(email), "email")
		}
		wantInvalid(t, s.post("/v1/signup", map[string]any{}), "email")
		for _, email := range []string{"o'brien@example.com", "a@xn--p1b6ci4b4b3a.xn--h2brj9c", strings.Repeat("a", 242) + "@example.com"} {
			s.made(email)
		}
	})
}

func TestLinksAreSigned(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", func(c *signup.Config) { c.Limited = false }, func(t *testing.T, s *site) {
		id, _ := s.made("asha@example.com")
		other, _ := s.made("ravi@example.com")
		token := s.token(id)
		_, mac, _ := strings.Cut(token, ".")
		for _, forged := range []string{"", ".", id, id + ".", other + "." + mac, id + "." + strings.Repeat("A", len(mac)), "acc_x." + mac, "acc_\x00." + mac, token + "A", token + "=", strings.Repeat("a", 10_000)} {
			wantInvalid(t, s.confirm(forged), "token")
		}
		wantInvalid(t, s.post("/v1/signup/confirm", map[string]any{}), "token")
		s.clock.Advance(24 * time.Hour)
		wantInvalid(t, s.confirm(token), "token")
		if got := s.count("confirmed"); got != 0 {
			t.Errorf("%v accounts are confirmed, want 0", got)
		}
	})
}

func TestUnconfirmedAccountsAreErased(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		id, key := s.made("asha@example.com")
		token := s.token(id)
		s.clock.Advance(7*24*time.Hour - time.Second)
		s.process()
		if got := s.works(key); got != http.StatusOK {
			t.Fatalf("before the end: got %d, want 200", got)
		}
		s.clock.Advance(2 * time.Second)
		s.process()
		s.process()
		if got := s.works(key); got != http.StatusUnauthorized {
			t.Errorf("after the end: got %d, want 401", got)
		}
		wantInvalid(t, s.confirm(token), "token")
		if _, err := os.Stat(s.file(id)); !os.IsNotExist(err) {
			t.Errorf("the mail is still there: %v", err)
		}
		holder, err := account.ByID(s.db.View(t.Context()), id)
		if err != nil || holder.Name != "erased-"+id {
			t.Errorf("the account is %q, %v", holder.Name, err)
		}
		if got := s.count("erased"); got != 1 {
			t.Errorf("erased: got %v, want 1", got)
		}
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"off": http.StatusNotFound, "open": http.StatusCreated, "invite": http.StatusBadRequest} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			eachSite(t, mode, nil, func(t *testing.T, s *site) {
				if got := s.Do("", http.MethodGet, "/v1/signup", "").Body["mode"]; got != mode {
					t.Errorf("the mode is %v, want %s", got, mode)
				}
				if got := s.signUp("asha@example.com"); got.Status != want {
					t.Errorf("got %d %s, want %d", got.Status, got.Text, want)
				}
				if mode == "off" && s.confirm("x").Status != want {
					t.Error("a confirmation is accepted")
				}
			})
		})
	}
}

func TestAnInviteIsUsedOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, "invite", func(c *signup.Config) { c.Limited = false }, func(t *testing.T, s *site) {
		invite := func(email string) (code string) {
			err := s.db.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
				code, err = signup.CreateInvite(tx, email, s.clock.Now().Add(time.Hour), s.clock.Now())
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return code
		}
		use := func(email, code string) accesstest.Reply {
			return s.post("/v1/signup", map[string]string{"email": email, "invite": code})
		}
		code := invite("")
		var mu sync.Mutex
		got := map[int]int{}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				r := use(fmt.Sprintf("asha%d@example.com", n), code)
				mu.Lock()
				defer mu.Unlock()
				got[r.Status]++
			})
		}
		all.Wait()
		if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusBadRequest: 7}, got); diff != "" {
			t.Errorf("one code used by eight people (-want +got):\n%s", diff)
		}
		bound, late := invite("Asha@example.com"), invite("")
		used, unknown, others := use("x@example.com", code), use("x@example.com", "inv_X"), use("x@example.com", bound)
		for _, r := range []accesstest.Reply{used, unknown, others, use("x@example.com", "")} {
			wantInvalid(t, r, "invite")
		}
		if r := use("asha@Example.com", bound); r.Status != http.StatusCreated {
			t.Errorf("the code of an address: got %d %s", r.Status, r.Text)
		}
		s.clock.Advance(time.Hour)
		expired := use("x@example.com", late)
		wantInvalid(t, expired, "invite")
		for name, r := range map[string]accesstest.Reply{"a used code": used, "the code of another": others, "an expired code": expired} {
			if got, want := r.Body["message"], unknown.Body["message"]; got != want {
				t.Errorf("%s: got %q, want %q as for an unknown code", name, got, want)
			}
		}
	})
}

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		for range 3 {
			s.made("asha@example.com")
		}
		if r := s.signUp("Asha@example.com"); r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "1200" {
			t.Errorf("the fourth sign-up of an address: got %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
		}
		for n := range 56 {
			s.made(fmt.Sprintf("asha%d@example.com", n))
		}
		if r := s.signUp("x@example.com"); r.Status != http.StatusTooManyRequests {
			t.Errorf("request 61 of a client: got %d", r.Status)
		}
		if r := s.confirm("x"); r.Status != http.StatusTooManyRequests {
			t.Errorf("request 62 of a client: got %d", r.Status)
		}
		s.clock.Advance(time.Minute)
		s.made("x@example.com")
	})
}

// A mail server that does not accept a mail delays the mail, and not the reply.
func TestMailsAreRetried(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		box := newMailbox(t)
		smtp := func(c *signup.Config) {
			c.Mail.From, c.Mail.SMTP = "Vayu <no-reply@example.com>", config.DSN("smtp://vayu:p%40ss@"+box.address)
		}
		s := newSite(t, db, "open", smtp)
		box.setRefuse(true)
		s.made("asha@example.com")
		s.process()
		if got := box.take(); len(got) != 0 || s.count("mail_failed") != 1 {
			t.Fatalf("got %q and %v failures, want one failure:\n%s", got, s.count("mail_failed"), &s.log)
		}
		if strings.Contains(s.log.String(), "asha@") || strings.Contains(s.log.String(), "p@ss") {
			t.Errorf("the log has the address or the password:\n%s", &s.log)
		}
		box.setRefuse(false)
		s.process() // too early
		s.clock.Advance(5 * time.Minute)
		again := newSite(t, db, "open", smtp) // another instance, after a crash of the first one
		again.clock.Set(s.clock.Now())
		again.process()
		s.process()
		mails := box.take()
		if len(mails) != 1 {
			t.Fatalf("got %d mails, want 1:\n%s", len(mails), &again.log)
		}
		if !strings.HasPrefix(mails[0], "MAIL FROM:<no-reply@example.com>") || !strings.Contains(mails[0], "RCPT TO:<asha@example.com>\n") {
			t.Errorf("the envelope is wrong:\n%s", mails[0])
		}
		if got := s.confirm(tokenIn(t, mails[0])).Body["outcome"]; got != "confirmed" {
			t.Errorf("got %v, want confirmed", got)
		}
	})
}

// Run sends a mail without a wait for its ticker.
func TestRunSendsAMailAtOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, "open", nil, func(t *testing.T, s *site) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		id, _ := s.made("asha@example.com")
		fixture.Eventually(t, "the mail is in a file", func() bool { return s.count("mail_sent") == 1 })
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := s.confirm(s.token(id)).Body["outcome"]; got != "confirmed" {
			t.Errorf("got %v, want confirmed", got)
		}
	})
}

func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]signup.Settings{
		"mode": {Mode: "on"}, "sender": {Mode: "open", From: "Vayu"}, "no sender": {Mode: "open", SMTP: "smtp://h"},
		"scheme": {Mode: "open", From: "a@b.example", SMTP: "http://h"}, "host": {Mode: "open", From: "a@b.example", SMTP: "smtp:25"},
	} {
		if got := s.Validate(); len(got) == 0 {
			t.Errorf("%s: got no error", name)
		}
	}
	valid := signup.Settings{Mode: "open", From: "Vayu <a@b.example>", SMTP: "smtps://u:p@h:465"}
	if got := append(valid.Validate(), signup.DefaultSettings().Validate()...); len(got) > 0 {
		t.Errorf("got %v, want none", got)
	}
}
