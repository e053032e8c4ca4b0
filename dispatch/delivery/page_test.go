package delivery_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/schema"
)

// receiving is the guide for authors of receivers.
const receiving = "../../docs/webhooks.md"

// rows returns the cells of the rows whose first cell matches a pattern.
func rows(text, first string) (all [][]string) {
	for _, m := range regexp.MustCompile(`(?m)^\s*\| (`+first+`) \| (.*) \|$`).FindAllStringSubmatch(text, -1) {
		all = append(all, append([]string{m[1]}, strings.Split(m[2], " | ")...))
	}
	return all
}

// durationText formats a duration as the guides do. A long duration that has no whole
// hours is rounded to the hour.
func durationText(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d > time.Hour && d%time.Hour != 0:
		return "about " + durationText(d.Truncate(time.Hour))
	}
	text := regexp.MustCompile(`([hms])`).ReplaceAllString(d.String(), " $1 ")
	text = regexp.MustCompile(`\b0 [ms] `).ReplaceAllString(text, "")
	return strings.TrimSpace(strings.NewReplacer(" m ", " min ").Replace(text))
}

// The documented retries, in the guide and in the contract, are those of the code.
func TestDocumentedRetriesMatchCode(t *testing.T) {
	t.Parallel()
	want := [][]string{{"1", "at once", "0"}}
	var since time.Duration
	for i, delay := range delivery.RetryDelays {
		since += delay
		want = append(want, []string{string(rune('2' + i)), durationText(delay), durationText(since)})
	}
	contract, err := schema.OpenAPI.ReadFile("openapi/receiver.yaml")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(receiving)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{receiving: page, "receiver.yaml": contract} {
		if diff := cmp.Diff(want, rows(string(text), "[1-9]")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The page names every state and every type.
func TestDocumentNamesStatesAndTypes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(receiving)
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, typ := range schema.EventTypes {
		want = append(want, "`"+string(typ)+"`")
	}
	for _, state := range schema.DeliveryStates {
		want = append(want, "`"+string(state)+"`")
	}
	for _, row := range rows(string(page), "`[a-z.]+`") {
		got = append(got, row[0])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", receiving, diff)
	}
}
