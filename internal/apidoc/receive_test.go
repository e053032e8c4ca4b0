package apidoc_test

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/apidoc"
)

// section returns the part of the page from an id to end.
func section(t *testing.T, body, id, end string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, ` id="`+id+`"`)
	part, _, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Errorf("the page has no %s", id)
	}
	return part
}

// The page describes every field of an event, and shows an example.
func TestPageDescribesWebhooks(t *testing.T) {
	t.Parallel()
	_, body := request(t, http.MethodGet, "/docs")
	all := section(t, body, "to-receiving-events", "</section>")
	for _, want := range []string{
		"X-SERVICE-Signature", "X-SERVICE-Event-Id", "X-SERVICE-Delivery-Id", "X-SERVICE-Attempt", "X-SERVICE-Mode", "User-Agent", "Content-Type",
		"hmac_sha256", "5 minutes", "within 5 seconds", "<td>2 min 40 s</td>", ">2xx<", ">else<", `href="#object-Event"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing of %q", want)
		}
	}
	failed := section(t, all, "onRechargeFailed", "</article>")
	for _, want := range []string{
		`id="object-RechargeFailed"`, "<code>transaction_id</code>", "<code>charged</code>", "<code>failed_at</code>", "<code>test</code>",
		`href="#object-Problem"`, html.EscapeString(`"type": "recharge.failed"`),
	} {
		if !strings.Contains(failed, want) {
			t.Errorf("nothing of %q for recharge.failed", want)
		}
	}
	event := section(t, body, "object-Event", "</article>")
	if !strings.Contains(event, `href="#object-RechargeFailed"`) {
		t.Errorf("the data of an event lead nowhere: %s", event)
	}
}

// The headers and replies of the first event are shown for all.
func TestAllEventsComeInTheSameWay(t *testing.T) {
	t.Parallel()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	type way struct {
		Tags                            []string
		Parameters, Responses, Security any
	}
	var d struct{ Webhooks map[string]struct{ Post way } }
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	first := d.Webhooks["recharge.completed"].Post
	for name, w := range d.Webhooks {
		if diff := cmp.Diff(first, w.Post); diff != "" || len(first.Tags) != 1 {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Every example of a reply is on the page, and each request has a reply where there are any.
func TestThePageShowsEveryExample(t *testing.T) {
	t.Parallel()
	_, body := request(t, http.MethodGet, "/docs")
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	type named struct{ Summary string }
	type operation struct {
		ID        string `json:"operationId"`
		Responses map[string]struct {
			Content map[string]struct{ Examples map[string]named }
		}
	}
	var d struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, methods := range d.Paths {
		for name, raw := range methods {
			var op operation
			if err := json.Unmarshal(raw, &op); name == "parameters" || err != nil {
				continue
			}
			part := section(t, body, op.ID, "</article>")
			for status, r := range op.Responses {
				for _, media := range r.Content {
					for _, x := range media.Examples {
						if shown++; status < "300" && !strings.Contains(part, "<summary>"+html.EscapeString(x.Summary)+"</summary>") {
							t.Errorf("%s lacks the example %q", op.ID, x.Summary)
						}
					}
					if lonely := regexp.MustCompile(`aria-label="Request"><code>[^<]*</code></pre>\s*</details>`); len(media.Examples) > 0 && lonely.MatchString(part) {
						t.Errorf("%s: a request stands there without its reply", op.ID)
					}
				}
			}
		}
	}
	if shown < 20 {
		t.Errorf("only %d examples were looked for", shown)
	}
}

// A reply that has its own object is shown and named at its operation.
func TestThePageShowsRepliesThatAreObjects(t *testing.T) {
	t.Parallel()
	_, body := request(t, http.MethodGet, "/docs")
	for id, want := range map[string][]string{
		"createWebhook": {`<a href="#object-WebhookShown">WebhookShown</a>: One webhook`, "<code>previous_secret_until</code>"},
		"getAirQuality": {`<a href="#object-Record">Record</a>`, `<a href="#object-Bulk">Bulk</a>`},
	} {
		part := section(t, body, id, "</article>")
		for _, w := range want {
			if !strings.Contains(part, w) {
				t.Errorf("%s has nothing of %q", id, w)
			}
		}
	}
}
