package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/apidoc"
	"vayu/schema"
)

func TestEveryTypeHasTestData(t *testing.T) {
	t.Parallel()
	for _, typ := range schema.EventTypes {
		var data map[string]any
		if err := json.Unmarshal(schema.TestEventData(typ), &data); err != nil {
			t.Errorf("%s: %v in %s", typ, err, schema.TestEventData(typ))
		}
		if data["test"] != true {
			t.Errorf("%s: the data does not say that it is a test: %v", typ, data)
		}
		delete(data, "test")
		var example map[string]any
		if err := json.Unmarshal(schema.EventExample(typ), &example); err != nil || len(example) < 4 {
			t.Errorf("%s: the example is %v, %v", typ, example, err)
		}
		if diff := cmp.Diff(example, data); diff != "" {
			t.Errorf("%s: test data is not the example: %s", typ, diff)
		}
	}
	for _, none := range []schema.EventType{"", "recharge", "../recharge.failed", "quota.warning.json"} {
		if data := schema.TestEventData(none); data != nil {
			t.Errorf("%q has test data: %s", none, data)
		}
	}
}

// The data of quota events is a Quota, and their examples are valid ones.
func TestExamplesOfQuotaEventsAreQuotas(t *testing.T) {
	t.Parallel()
	for _, typ := range []schema.EventType{schema.EventQuotaWarning, schema.EventQuotaExceeded} {
		var q schema.Quota
		d := json.NewDecoder(bytes.NewReader(schema.EventExample(typ)))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(q); err != nil || !bytes.Equal(text, schema.EventExample(typ)) {
			t.Errorf("%s: got %s, %v, want %s", typ, text, err, schema.EventExample(typ))
		}
	}
}

// The contract shows one event of each type, with the data of test events.
func TestTheContractShowsEveryEvent(t *testing.T) {
	t.Parallel()
	text, err := apidoc.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ Paths map[string]json.RawMessage }
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	var path struct {
		Get struct {
			Responses map[string]struct {
				Content map[string]struct {
					Examples map[string]struct {
						Value struct{ Data schema.Envelope }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(document.Paths["/v1/events/{id}"], &path); err != nil {
		t.Fatal(err)
	}
	shown := map[schema.EventType]any{}
	for _, example := range path.Get.Responses["200"].Content["application/json"].Examples {
		event := example.Value.Data
		shown[event.Type] = values(t, event.Data)
	}
	want := map[schema.EventType]any{}
	for _, typ := range schema.EventTypes {
		want[typ] = values(t, schema.EventExample(typ))
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the contract shows other events: %s", diff)
	}
}

func values(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	return v
}
