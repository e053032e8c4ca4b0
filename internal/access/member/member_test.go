package member_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/internal/access/member"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
	wire "vayu/schema/member"
)

func TestAMemberSignsInAndSwitchesTheMode(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		id := s.added("Asha.K@example.com", "finance")
		token := s.last()
		if strings.Contains(s.log.String(), "@example.com") {
			t.Errorf("the log has the e-mail address:\n%s", &s.log)
		}
		cookie := s.cookie(token)
		s.confirm(token).WantError(t, "the second use of a link", http.StatusBadRequest, schema.InvalidRequest, "token")
		for _, mode := range []string{"live", "sandbox", "sandbox", "live"} {
			s.by(cookie, http.MethodPost, "/v1/sessions/current/mode", `{"mode":"`+mode+`"}`).Want(t, "switching to "+mode, http.StatusOK)
			who := s.by(cookie, http.MethodGet, "/v1/sessions/current", "").Want(t, "who am I", http.StatusOK)
			if got := []string{who.TextAt("data.mode"), who.TextAt("data.member.email"), who.TextAt("data.member.role"), who.TextAt("data.member.id")}; !slices.Equal(got, []string{mode, "Asha.K@example.com", "finance", id}) {
				t.Errorf("in %s mode: got %v", mode, got)
			}
		}
		s.by(cookie, http.MethodGet, "/v1/members", "").WantError(t, "a member without keys:manage", http.StatusForbidden, schema.InsufficientScope, "")
		list := s.Do(s.live(), http.MethodGet, "/v1/members", "").Want(t, "list", http.StatusOK)
		m := list.At("data").([]any)[0].(map[string]any)
		if m["last_sign_in_at"] == nil || m["role"] != "finance" {
			t.Errorf("the member is %v, want a sign-in and the role finance", m)
		}
		if roles := list.At("roles").([]any); len(roles) != 4 {
			t.Errorf("the roles are %v, want four", roles)
		}
		key := m["key_ids"].(map[string]any)["live"].(string)
		audit := s.Do(s.live(), http.MethodGet, "/v1/audit", "").At("data").([]any)
		var got []string
		for _, row := range audit {
			row := row.(map[string]any)
			got = append(got, fmt.Sprint(row["action"], " ", row["actor"] == key))
		}
		want := []string{"session.mode true", "session.create true", "member.create false", "key.create false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the audit log (-want +got):\n%s", diff)
		}
		for _, list := range []string{s.Do(s.live(), http.MethodGet, "/v1/keys", "").Text, fmt.Sprint(audit)} {
			if strings.Contains(list, "Asha") || strings.Contains(list, `"id":"`+key) {
				t.Errorf("a list has the key or the address of the member: %s", list)
			}
		}
		for method, path := range map[string]string{http.MethodGet: "", http.MethodDelete: "", http.MethodPost: "/rotate"} {
			s.Do(s.live(), method, "/v1/keys/"+key+path, "").WantError(t, method+" of the member's key", http.StatusNotFound, schema.NotFound, "")
		}
	})
}

func TestRemovalEndsTheSessions(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		id := s.added("asha@example.com", "owner")
		first := s.cookie(s.last())
		s.request("ASHA@example.com").Want(t, "another link", http.StatusAccepted)
		second := s.cookie(s.last())
		s.by(second, http.MethodPost, "/v1/sessions/current/mode", `{"mode":"sandbox"}`).Want(t, "switching", http.StatusOK)
		s.request("asha@example.com").Want(t, "a link that is not used", http.StatusAccepted)
		late := s.last()
		s.Do(s.Keys[schema.Sandbox], http.MethodDelete, "/v1/members/"+id, "").WantError(t, "by a sandbox key", http.StatusForbidden, schema.Forbidden, "")
		s.by(first, http.MethodDelete, "/v1/members/"+id, "").Want(t, "the last owner leaves", http.StatusOK)
		for _, cookie := range []string{first, second} {
			s.by(cookie, http.MethodGet, "/v1/sessions/current", "").WantError(t, "a session after the removal", http.StatusUnauthorized, schema.KeyRevoked, "")
		}
		s.confirm(late).WantError(t, "a link after the removal", http.StatusBadRequest, schema.InvalidRequest, "token")
		s.Do(s.live(), http.MethodDelete, "/v1/members/"+id, "").WantError(t, "again", http.StatusNotFound, schema.NotFound, "")
		mails := len(s.mails())
		s.request("asha@example.com").Want(t, "a former member", http.StatusAccepted)
		if got := len(s.mails()); got != mails {
			t.Errorf("a former member has got a mail: %d, want %d", got, mails)
		}
	})
}

func TestARoleTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		id := s.added("asha@example.com", "viewer")
		cookie := s.cookie(s.last())
		role := func(key, role string) accesstest.Reply {
			return s.Do(key, http.MethodPatch, "/v1/members/"+id, jsonOf(t, map[string]string{"role": role}))
		}
		s.by(cookie, http.MethodGet, "/v1/members", "").WantError(t, "a viewer", http.StatusForbidden, schema.InsufficientScope, "")
		role(s.live(), "owner").Want(t, "promotion", http.StatusOK)
		s.by(cookie, http.MethodGet, "/v1/members", "").Want(t, "an owner", http.StatusOK)
		role(s.live(), "developer").Want(t, "demotion", http.StatusOK)
		s.by(cookie, http.MethodGet, "/v1/members", "").WantError(t, "a developer in live mode", http.StatusForbidden, schema.InsufficientScope, "")
		s.by(cookie, http.MethodPost, "/v1/sessions/current/mode", `{"mode":"sandbox"}`).Want(t, "switching", http.StatusOK)
		s.by(cookie, http.MethodGet, "/v1/members", "").WantError(t, "a developer in sandbox mode", http.StatusForbidden, schema.Forbidden, "")
		s.by(cookie, http.MethodPost, "/v1/keys", `{"name":"ci","scopes":["aqi:read"]}`).Want(t, "a developer makes a sandbox key", http.StatusCreated)
		role(s.live(), "boss").WantError(t, "an unknown role", http.StatusBadRequest, schema.InvalidRequest, "role")
		s.Do(s.live(), http.MethodPatch, "/v1/members/mem_x", `{"role":"viewer"}`).WantError(t, "an unknown member", http.StatusNotFound, schema.NotFound, "")
	})
}

// A caller grants and takes away only what it has.
func TestMembersAreDelegated(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		owner := s.added("owner@example.com", "owner")
		key := func(body string) string {
			r := s.Do(s.live(), http.MethodPost, "/v1/keys", body).Want(t, "a key", http.StatusCreated)
			return r.TextAt("key")
		}
		narrow := key(`{"scopes":["keys:manage","account:read","aqi:read","recharge:read","verify:read"]}`)
		s.add(narrow, "viewer@example.com", "viewer").Want(t, "a viewer", http.StatusCreated)
		s.add(narrow, "x@example.com", "owner").WantError(t, "an owner", http.StatusForbidden, schema.InsufficientScope, "scopes")
		s.Do(narrow, http.MethodDelete, "/v1/members/"+owner, "").WantError(t, "removing an owner", http.StatusForbidden, schema.InsufficientScope, "scopes")
		s.Do(narrow, http.MethodPatch, "/v1/members/"+owner, `{"role":"viewer"}`).WantError(t, "demoting an owner", http.StatusForbidden, schema.InsufficientScope, "scopes")
		s.add(s.Keys[schema.Sandbox], "x@example.com", "viewer").WantError(t, "by a sandbox key", http.StatusForbidden, schema.Forbidden, "")
		s.add(key(`{"scopes":["aqi:read"]}`), "x@example.com", "viewer").WantError(t, "without keys:manage", http.StatusForbidden, schema.InsufficientScope, "")

		elsewhere := key(`{"scopes":["keys:manage","account:read","aqi:read","recharge:read","verify:read"],"allow_list":["192.0.2.0/24"]}`)
		s.add(elsewhere, "near@example.com", "viewer").Want(t, "by a key with an allow-list", http.StatusCreated)
		var lists int
		err := s.db.View(t.Context()).QueryRow("SELECT count(*) FROM api_key k JOIN member m ON m.id = k.member_id WHERE m.email LIKE 'near@%' AND k.allow_list = '192.0.2.0/24'").Scan(&lists)
		if err != nil || lists != 2 {
			t.Errorf("%d keys of the member have the allow-list, %v, want 2", lists, err)
		}
		other := accesstest.AddTenant(t, s.db, "other")
		s.Do(other.Keys[schema.Live], http.MethodDelete, "/v1/members/"+owner, "").WantError(t, "by another account", http.StatusNotFound, schema.NotFound, "")
	})
}

func TestMembersAreChecked(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		s.add(s.live(), "ASHA@example.com", "owner").WantError(t, "twice", http.StatusBadRequest, schema.InvalidRequest, "email")
		s.add(s.live(), "asha", "owner").WantError(t, "no address", http.StatusBadRequest, schema.InvalidRequest, "email")
		s.add(s.live(), "x@example.com", "").WantError(t, "no role", http.StatusBadRequest, schema.InvalidRequest, "role")
		for n := range 49 {
			s.added(fmt.Sprintf("asha%d@example.com", n), "viewer")
		}
		s.add(s.live(), "x@example.com", "viewer").WantError(t, "member 51", http.StatusConflict, schema.Conflict, "")
		again := s.Do(s.live(), http.MethodPost, "/v1/keys", `{"name":"x"}`)
		again.Want(t, "a key besides those of 50 members", http.StatusCreated)
	})
}

// The reply is the same for every address, and the handler reads no member.
func TestLinksRevealNoMember(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		s.mails()
		known, unknown := s.request("asha@example.com"), s.request("ravi@example.com")
		if known.Status != http.StatusAccepted || known.Status != unknown.Status || known.Text != unknown.Text {
			t.Errorf("known: %d %s, unknown: %d %s", known.Status, known.Text, unknown.Status, unknown.Text)
		}
		if got := len(s.mails()); got != 2 {
			t.Errorf("got %d mails, want the invitation and one link", got)
		}
		s.request("x").WantError(t, "no address", http.StatusBadRequest, schema.InvalidRequest, "email")
		s.clock.Advance(25 * time.Hour)
		var left int
		if got := len(s.mails()); got != 0 {
			t.Errorf("%d files of expired links are left", got)
		}
		if err := s.db.View(t.Context()).QueryRow("SELECT count(*) FROM sign_in_link").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d requests are left, %v", left, err)
		}
	})
}

func TestLinksAreSignedAndExpire(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		other := s.added("ravi@example.com", "owner")
		s.mails()
		s.request("asha@example.com")
		token := s.last()
		parts := strings.Split(token, ".")
		for _, forged := range []string{
			"", "..", parts[0], parts[0] + "." + parts[1] + ".", parts[0] + "." + other + "." + parts[2], parts[0] + "..." + parts[2],
			"lnk_\x00." + parts[1] + "." + parts[2], "lnk_x." + parts[1] + "." + parts[2], token + "A", strings.Repeat("a", 10_000),
		} {
			s.confirm(forged).WantError(t, forged, http.StatusBadRequest, schema.InvalidRequest, "token")
		}
		s.clock.Advance(15 * time.Minute)
		s.confirm(token).WantError(t, "an expired link", http.StatusBadRequest, schema.InvalidRequest, "token")
	})
}

// A link that is opened in several tabs makes one session.
func TestALinkWorksOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		token := s.last()
		var mu sync.Mutex
		got := map[int]int{}
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				status := s.confirm(token).Status
				mu.Lock()
				defer mu.Unlock()
				got[status]++
			})
		}
		all.Wait()
		if diff := cmp.Diff(map[int]int{http.StatusCreated: 1, http.StatusBadRequest: 4}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// The mail to a member of two accounts has a link for each of them.
func TestAPersonHasSeveralAccounts(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		other := accesstest.AddTenant(t, s.db, "zeta")
		s.add(other.Keys[schema.Live], "Asha@example.com", "owner").Want(t, "the other account", http.StatusCreated)
		s.mails()
		s.request("asha@example.com")
		all := s.mails()
		tokens := all[len(all)-1]
		if len(tokens) < 2 {
			t.Fatalf("the mail has the tokens %q, want two", tokens)
		}
		who := s.by(s.cookie(tokens[1]), http.MethodGet, "/v1/sessions/current", "")
		if got := who.TextAt("data.account.name"); got != "zeta" {
			t.Errorf("the second link is of the account %q, want zeta", got)
		}
		s.confirm(tokens[0]).WantError(t, "the first link afterwards", http.StatusBadRequest, schema.InvalidRequest, "token")
	})
}

func TestAllowListsHoldForMembers(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		s.added("asha@example.com", "viewer")
		token := s.last()
		sqlstoretest.Exec(t, s.db, "UPDATE account SET allow_list = '203.0.113.0/24'")
		s.confirm(token).WantError(t, "from another address", http.StatusForbidden, schema.IPNotAllowed, "")
		sqlstoretest.Exec(t, s.db, "UPDATE account SET allow_list = '192.0.2.0/24'")
		s.cookie(token)
	})
}

// An account cannot send mails to any number of people by adding and removing members.
func TestInvitationsOfAnAccountAreLimited(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newSite(t, db, true)
		add := func(n int) accesstest.Reply {
			return s.Do(s.live(), http.MethodPost, "/v1/members", fmt.Sprintf(`{"email":"p%d@example.com","role":"none"}`, n))
		}
		for n := range 100 {
			add(n).WantError(t, "one of 100 a day", http.StatusBadRequest, schema.InvalidRequest, "role")
		}
		add(100).WantError(t, "the 101st", http.StatusTooManyRequests, schema.RateLimited, "")
		s.clock.Advance(time.Hour)
		add(101).WantError(t, "an hour later", http.StatusBadRequest, schema.InvalidRequest, "role")
	})
}

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newSite(t, db, true)
		for range 3 {
			s.request("asha@example.com").Want(t, "a link", http.StatusAccepted)
		}
		if r := s.request("Asha@example.com"); r.Status != http.StatusTooManyRequests || r.Header.Get("Retry-After") != "1200" {
			t.Errorf("the fourth link of an address: got %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
		}
		s.add(s.live(), "asha@example.com", "viewer").Want(t, "the mail of an invitation to that address", http.StatusTooManyRequests)
		for range 56 {
			s.confirm("x").Want(t, "a confirmation", http.StatusBadRequest)
		}
		s.confirm("x").Want(t, "request 61 of a client", http.StatusTooManyRequests)
	})
}

// Run sends a mail without a wait for its ticker.
func TestRunSendsAMailAtOnce(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		s.added("asha@example.com", "viewer")
		fixture.Eventually(t, "the mail is in a file", func() bool {
			return fixture.MetricValue(t, s.metrics, "vayu_sign_in_total", "event", "mail_sent") == 1
		})
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.cookie(s.last())
	})
}

// The operator adds the first member from the command line.
func TestTheOperatorAddsAMember(t *testing.T) {
	t.Parallel()
	eachSite(t, func(t *testing.T, s *site) {
		change := func(do func(tx *sqlstore.Tx) (wire.Member, error)) wire.Member {
			t.Helper()
			var m wire.Member
			if err := s.db.Update(t.Context(), func(tx *sqlstore.Tx) (err error) {
				m, err = do(tx)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return m
		}
		box := accesstest.ClaimedCipher(t, s.db)
		change(func(tx *sqlstore.Tx) (wire.Member, error) {
			return member.Add(tx, box, s.ID, "asha@example.com", wire.Owner, member.Operator("command"), s.clock.Now())
		})
		cookie := s.cookie(s.last())
		s.by(cookie, http.MethodPost, "/v1/members", `{"email":"ravi@example.com","role":"finance"}`).Want(t, "an owner adds another", http.StatusCreated)
		change(func(tx *sqlstore.Tx) (wire.Member, error) {
			return member.Remove(tx, s.ID, "Asha@example.com", member.Operator("command"), s.clock.Now())
		})
		if err := s.access.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.by(cookie, http.MethodGet, "/v1/sessions/current", "").Want(t, "after the removal", http.StatusUnauthorized)
	})
}

// Each role is a set of scopes that some key can have, and a lower role has no scope that an owner lacks.
func TestRoles(t *testing.T) {
	t.Parallel()
	owner, _ := wire.RoleOf(wire.Owner)
	for _, r := range wire.Roles() {
		for _, w := range schema.Worlds {
			spec := apikey.Spec{Name: "x", Scopes: r.Scopes(w)}
			if _, _, f := spec.Check(); len(f) > 0 {
				t.Errorf("%s, %s: %v", r.Role, w, f)
			}
			for _, scope := range r.Scopes(w) {
				if !slices.Contains(owner.Scopes(w), scope) {
					t.Errorf("%s has %s, and an owner lacks it", r.Role, scope)
				}
			}
		}
	}
}
