package httpapitest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"vayu/internal/apidoc"
	"vayu/schema"
)

// eventFault returns what violates the contract in an event; "" for nothing.
func eventFault(t *testing.T, event *jsonschema.Schema, kind schema.EventType, data []byte) string {
	t.Helper()
	text, err := json.Marshal(schema.Envelope{ID: "evt_01M7YCRNFM1W9P8057PCSJXQCM", Type: kind, APIVersion: schema.EventVersion, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := event.Validate(v); err != nil {
		return explain(err)
	}
	return ""
}

func eventSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := whole(t)
	s := c.schema("/components/schemas/Event")
	if c.err != nil {
		t.Fatal(c.err)
	}
	return s
}

func TestEventsAreAsTheContractSays(t *testing.T) {
	t.Parallel()
	event := eventSchema(t)
	for _, kind := range schema.EventTypes {
		numbered := append(bytes.TrimSuffix(schema.TestEventData(kind), []byte("}")), `,"n":7}`...)
		for _, data := range [][]byte{schema.EventExample(kind), schema.TestEventData(kind), numbered} {
			if fault := eventFault(t, event, kind, data); fault != "" {
				t.Errorf("%s: %s", kind, fault)
			}
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(schema.EventExample(kind), &fields); err != nil {
			t.Fatal(err)
		}
		for name := range fields {
			for what, value := range map[string]string{"an object": "{}", "nothing": ""} {
				changed := map[string]json.RawMessage{}
				for n, v := range fields {
					if n != name {
						changed[n] = v
					} else if value != "" {
						changed[n] = json.RawMessage(value)
					}
				}
				text, err := json.Marshal(changed)
				if err != nil {
					t.Fatal(err)
				}
				want := name
				if value == "" && (name == "utr" || name == "ref_id" && strings.HasPrefix(string(kind), "verification.")) {
					want = "" // optional
				}
				t.Run(fmt.Sprintf("%s/%s as %s", kind, name, what), func(t *testing.T) {
					wantFault(t, eventFault(t, event, kind, text), want)
				})
			}
		}
		more := append(bytes.TrimSuffix(schema.EventExample(kind), []byte("}")), `,"more":1}`...)
		if fault := eventFault(t, event, kind, more); !strings.Contains(fault, "more") {
			t.Errorf("%s: another field was accepted: %q", kind, fault)
		}
	}
	for _, other := range []schema.EventType{"", "recharge", "recharge.done"} {
		if eventFault(t, event, other, []byte("{}")) == "" {
			t.Errorf("%q is taken for a type", other)
		}
	}
}

// The fault of an event only mentions its own type.
func TestAFaultOfAnEventIsReadable(t *testing.T) {
	t.Parallel()
	data := bytes.Replace(schema.EventExample(schema.EventQuotaWarning), []byte("800"), []byte(`"800"`), 1)
	got := eventFault(t, eventSchema(t), schema.EventQuotaWarning, data)
	if !strings.Contains(got, "/data/used") {
		t.Errorf("the field is missing in %s", got)
	}
	if strings.Contains(got, "transaction_id") {
		t.Errorf("another type is mentioned in %s", got)
	}
	if lines := strings.Count(got, "\n"); lines > 12 {
		t.Errorf("got %d lines, want at most 12: %s", lines, got)
	}
}

// A UPI verification has an address instead of an account.
func TestVerificationsNameWhatWasVerified(t *testing.T) {
	t.Parallel()
	event := eventSchema(t)
	drop := string(schema.EventExample(schema.EventVerificationFailed))
	upi := strings.Replace(drop, `"penny_drop"`, `"upi"`, 1)
	upi = regexp.MustCompile(`"account_number":"[^"]*","ifsc":"[^"]*"`).ReplaceAllString(upi, `"vpa":"****@upi"`)
	for data, want := range map[string]string{
		upi: "",
		strings.Replace(upi, "vpa", "address", 1):               "vpa",
		strings.Replace(upi, `"upi"`, `"penny_drop"`, 1):        "ifsc",
		strings.Replace(drop, "XXXXXXX6789", "123456789", 1):    "account_number",
		strings.Replace(drop, `"penny_drop"`, `"telepathy"`, 1): "method",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			wantFault(t, eventFault(t, event, schema.EventVerificationFailed, []byte(data)), want)
		})
	}
}

// The contract has a webhook for every event type.
func TestEveryEventHasAWebhook(t *testing.T) {
	t.Parallel()
	c := whole(t)
	names := make([]string, len(schema.EventTypes))
	for i, kind := range schema.EventTypes {
		names[i] = string(kind)
		at := "/webhooks/" + string(kind) + "/post/requestBody/content/application~1json"
		body := c.schema(at + "/schema")
		example := lookup(c.root, at+"/examples/such/value")
		if c.err != nil {
			t.Fatalf("%s: %v", kind, c.err)
		}
		if err := body.Validate(example); err != nil {
			t.Errorf("%s: the example: %v", kind, err)
		}
		envelope, _ := example.(map[string]any)
		shown := lookup(c.root, "/paths/~1v1~1events~1{id}/get/responses/200/content/application~1json/examples/"+string(kind)+"/value/data")
		if diff := cmp.Diff(shown, example); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		if envelope["type"] != string(kind) {
			t.Errorf("the example of %s has the type %v", kind, envelope["type"])
		}
	}
	slices.Sort(names)
	if diff := cmp.Diff(names, c.names("/webhooks")); diff != "" {
		t.Error(diff)
	}
}

// A receiver can be tested with the signature in the contract.
func TestTheSignatureThatIsShownIsGenuine(t *testing.T) {
	t.Parallel()
	c := whole(t)
	at := "/components/parameters/eventSignature"
	secret := regexp.MustCompile(`whsec_\w+`).FindString(c.text(at + "/description"))
	if secret == "" {
		t.Fatal("the description has no secret")
	}
	stamp, have, _ := strings.Cut(strings.TrimPrefix(c.text(at+"/example"), "t="), ",v1=")
	var document struct {
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Examples map[string]struct{ Value json.RawMessage }
					}
				}
			}
		}
	}
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, document.Webhooks["recharge.completed"].Post.RequestBody.Content["application/json"].Examples["such"].Value); err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "." + body.String()))
	if want := hex.EncodeToString(mac.Sum(nil)); have != want {
		t.Errorf("got %s, want %s of %s under %q", have, want, body.String(), secret)
	}
}
