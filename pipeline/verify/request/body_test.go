package request

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// drop returns the body of a penny drop with changed fields. An empty value removes the field.
func drop(fields ...string) string {
	return body([]string{"account_number", `"001234567890123"`, "ifsc", `"SBIN0000691"`, "name", `"Rahul Sharma"`}, fields)
}

// upiBody returns the body of a lookup of an address.
func upiBody(fields ...string) string {
	return body([]string{"vpa", `"rahul.sharma@okaxis"`, "name", `"Rahul Sharma"`}, fields)
}

func body(usual, other []string) string {
	values := map[string]string{}
	for _, fields := range [][]string{usual, other} {
		for i := 0; i < len(fields); i += 2 {
			values[fields[i]] = fields[i+1]
		}
	}
	var parts []string
	for _, name := range []string{"account_number", "ifsc", "vpa", "name", "name_match_tolerance", "ref_id", "async", "note"} {
		if v := values[name]; v != "" {
			parts = append(parts, `"`+name+`":`+v)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quoted(n int, text string) string { return `"` + strings.Repeat(text, n) + `"` }

// badBodies are invalid bodies with their faults.
var badBodies = []struct {
	body  string
	code  schema.Code
	field string
	says  string
}{
	{drop("account_number", "1234567890123"), schema.InvalidRequest, "account_number", "must be a string. A number would lose leading zeros"},
	{drop("account_number", "true"), schema.InvalidRequest, "account_number", "must be a string"},
	{drop("account_number", `["001234567890123"]`), schema.InvalidRequest, "account_number", "must be a string"},
	{drop("account_number", `""`), schema.InvalidAccountNumber, "account_number", "9 to 18 digits"},
	{drop("account_number", `"0012 3456 7890"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `" 001234567890"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `"001234567890\n"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `"0012-34567890"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `"12345678A"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", quoted(8, "1")), schema.InvalidAccountNumber, "account_number", "9 to 18 digits"},
	{drop("account_number", quoted(19, "1")), schema.InvalidAccountNumber, "account_number", "9 to 18 digits"},
	{drop("account_number", `"१२३४५६७८९०"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `"१२३"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", `"１２３４５６７８９"`), schema.InvalidAccountNumber, "account_number", "no other characters"},
	{drop("account_number", ""), schema.InvalidRequest, "account_number", "is missing"},
	{drop("account_number", "null"), schema.InvalidRequest, "account_number", "is missing"},
	{drop("ifsc", ""), schema.InvalidRequest, "ifsc", "is missing"},
	{drop("ifsc", "691"), schema.InvalidRequest, "ifsc", "must be a string"},
	{drop("ifsc", `"SBINO000691"`), schema.InvalidIFSC, "ifsc", "the digit 0"},
	{drop("ifsc", `"ЅBIN0000691"`), schema.InvalidIFSC, "ifsc", "four letters"},
	{drop("ifsc", `"SBIN000069"`), schema.InvalidIFSC, "ifsc", "six letters or digits"},
	{drop("ifsc", `"SBIN0ZZZZZZ"`), schema.InvalidIFSC, "ifsc", "No branch has"},
	{drop("ifsc", `"ZZZZ0000001"`), schema.InvalidIFSC, "ifsc", "No branch has"},
	{upiBody("vpa", `"a@b@c"`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", `"rahul@example.com"`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", `"`+strings.Repeat("a", 300)+`@upi"`), schema.InvalidVPA, "vpa", "2 to 256"},
	{upiBody("vpa", `""`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", `"rahul"`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", `"राहुल@upi"`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", `"ra\u202ehul@upi"`), schema.InvalidVPA, "vpa", "name@handle"},
	{upiBody("vpa", "17"), schema.InvalidRequest, "vpa", "must be a string"},
	{drop("vpa", `"rahul@upi"`), schema.ConflictingParameters, "vpa", "not both"},
	{upiBody("ifsc", `"SBIN0000691"`), schema.ConflictingParameters, "vpa", "not both"},
	{upiBody("vpa", ""), schema.ConflictingParameters, "", "Send either vpa, or account_number with ifsc."},
	{"{}", schema.ConflictingParameters, "", "Send either vpa"},
	{drop("name_match_tolerance", `"foo"`), schema.InvalidRequest, "name_match_tolerance", "strict, standard or lenient"},
	{drop("name_match_tolerance", `"70"`), schema.InvalidRequest, "name_match_tolerance", "whole number"},
	{drop("name_match_tolerance", `"Strict"`), schema.InvalidRequest, "name_match_tolerance", "strict"},
	{drop("name_match_tolerance", "-1"), schema.InvalidRequest, "name_match_tolerance", "0 to 100"},
	{drop("name_match_tolerance", "101"), schema.InvalidRequest, "name_match_tolerance", "0 to 100"},
	{drop("name_match_tolerance", "70.5"), schema.InvalidRequest, "name_match_tolerance", "whole number"},
	{drop("name_match_tolerance", "1e400"), schema.InvalidRequest, "name_match_tolerance", "whole number"},
	{drop("name_match_tolerance", "true"), schema.InvalidRequest, "name_match_tolerance", "whole number"},
	{drop("name", quoted(5000, "a")), schema.InvalidRequest, "name", "1 to 256 characters"},
	{drop("name", quoted(257, "र")), schema.InvalidRequest, "name", "1 to 256 characters"},
	{drop("name", `"... --- !!!"`), schema.InvalidRequest, "name", "must have a letter"},
	{drop("name", `""`), schema.InvalidRequest, "name", "must have a letter"},
	{drop("name", `"  "`), schema.InvalidRequest, "name", "must have a letter"},
	{drop("name", `"\u202e"`), schema.InvalidRequest, "name", "must have a letter"},
	{drop("name", `"12345"`), schema.InvalidRequest, "name", "must have a letter"},
	{drop("name", `"Rahul\u0000"`), schema.InvalidRequest, "name", "no control characters"},
	{drop("name", "17"), schema.InvalidRequest, "name", "must be a string"},
	{drop("ref_id", `""`), schema.InvalidRequest, "ref_id", "1 to 255"},
	{drop("ref_id", quoted(256, "r")), schema.InvalidRequest, "ref_id", "1 to 255"},
	{drop("ref_id", "17"), schema.InvalidRequest, "ref_id", "must be a string"},
	{drop("async", `"true"`), schema.InvalidRequest, "async", "true or false"},
	{drop("async", "1"), schema.InvalidRequest, "async", "true or false"},
	{"[]", schema.InvalidRequest, "", ""}, {"null", schema.InvalidRequest, "", ""}, {`"x"`, schema.InvalidRequest, "", ""},
	{"{", schema.InvalidJSON, "", ""}, {drop() + "{}", schema.InvalidJSON, "", ""}, {drop("name", "\"\xff\""), schema.InvalidJSON, "", ""},
	{strings.Replace(drop(), "{", `{"name":"x",`, 1), schema.InvalidJSON, "", ""}, {drop("account_number", "001234567890"), schema.InvalidJSON, "", ""},
	{drop("note", strings.Repeat("[", 40)+strings.Repeat("]", 40)), schema.InvalidJSON, "", ""},
}

func TestBodyFaultsAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range badBodies {
		_, _, err := Parse([]byte(c.body))
		p, ok := errors.AsType[*schema.Problem](err)
		switch {
		case !ok:
			t.Errorf("%.150s: got %+v, want %s of %q: %s", c.body, err, c.code, c.field, c.says)
		case p.Code != c.code:
			t.Errorf("%.150s: p.Code = %v, want %v", c.body, p.Code, c.code)
		case p.Field != c.field && c.code != schema.InvalidJSON:
			t.Errorf("%.150s: got %+v, want %s of %q: %s", c.body, err, c.code, c.field, c.says)
		case !strings.Contains(p.Message, c.says):
			t.Errorf("%.150s: p.Message = %q, want %q in it", c.body, p.Message, c.says)
		}
	}
}

// Several faults are reported at once, syntax faults first.
func TestAllBodyFaultsAreReported(t *testing.T) {
	t.Parallel()
	_, _, err := Parse([]byte(drop("account_number", `"1"`, "ifsc", `"X"`, "name", "1", "name_match_tolerance", "101", "ref_id", "1", "async", "1")))
	p, ok := errors.AsType[*schema.Problem](err)
	if !ok {
		t.Fatalf("got %v, want a problem", err)
	}
	if p.Code != schema.InvalidRequest {
		t.Fatalf("code = %s, want %s", p.Code, schema.InvalidRequest)
	}
	var fields []string
	for _, d := range p.Details {
		fields = append(fields, d.Field)
	}
	if diff := cmp.Diff([]string{"name", "name_match_tolerance", "ref_id", "async", "account_number", "ifsc"}, fields); diff != "" {
		t.Errorf("the faults (-want +got):\n%s", diff)
	}
}

func TestValidBodyIsRead(t *testing.T) {
	t.Parallel()
	usual := Request{Method: schema.VerifyPennyDrop, Private: Private{Account: "001234567890123", IFSC: "SBIN0000691", Name: "Rahul Sharma"}, Tolerance: -1}
	of := func(change func(*Request)) Request {
		r := usual
		change(&r)
		return r
	}
	long := strings.Repeat("9", 18)
	for text, want := range map[string]Request{
		drop():                                     usual,
		drop("note", `{"ours":1}`):                 usual,
		drop("ifsc", `"sbin0000691"`):              usual,
		drop("name", ""):                           of(func(r *Request) { r.Name = "" }),
		drop("name", "null"):                       of(func(r *Request) { r.Name = "" }),
		drop("account_number", quoted(9, "0")):     of(func(r *Request) { r.Account = "000000000" }),
		drop("account_number", `"`+long+`"`):       of(func(r *Request) { r.Account = long }),
		drop("name", `"\u202eRahul"`):              of(func(r *Request) { r.Name = "\u202eRahul" }),
		drop("name", `"राज\u200dू"`):               of(func(r *Request) { r.Name = "राज\u200dू" }),
		drop("name", `"Jose\u0301"`):               of(func(r *Request) { r.Name = "Jose\u0301" }),
		drop("name", quoted(256, "र")):             of(func(r *Request) { r.Name = strings.Repeat("र", 256) }),
		drop("name_match_tolerance", `"strict"`):   of(func(r *Request) { r.Tolerance = 100 }),
		drop("name_match_tolerance", `"standard"`): of(func(r *Request) { r.Tolerance = 70 }),
		drop("name_match_tolerance", `"lenient"`):  of(func(r *Request) { r.Tolerance = 50 }),
		drop("name_match_tolerance", "0"):          of(func(r *Request) { r.Tolerance = 0 }),
		drop("name_match_tolerance", "100"):        of(func(r *Request) { r.Tolerance = 100 }),
		drop("name_match_tolerance", "null"):       usual,
		drop("ref_id", `"a b"`, "async", "false"):  of(func(r *Request) { r.RefID = "a b" }),
		drop("vpa", "null"):                        usual,
		upiBody("vpa", `" Rahul.SHARMA@OkAxis"`): {
			Method: schema.VerifyUPI, Private: Private{VPA: "rahul.sharma@okaxis", Name: "Rahul Sharma"}, Tolerance: -1,
		},
	} {
		got, async, err := Parse([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil || async {
			t.Errorf("%.150s: %v, %v (-want +got):\n%s", text, async, err, diff)
		}
	}
	if _, async, err := Parse([]byte(drop("async", "true"))); !async || err != nil {
		t.Errorf("async: got %v, %v", async, err)
	}
}

// Every body is refused with a known code, or has all that a bank needs.
func FuzzRequestOf(f *testing.F) {
	for _, c := range badBodies {
		f.Add([]byte(c.body))
	}
	f.Add([]byte(drop()))
	f.Add([]byte(upiBody("name_match_tolerance", `"lenient"`, "async", "true")))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, _, err := Parse(text)
		if err != nil {
			if p, ok := errors.AsType[*schema.Problem](err); !ok {
				t.Errorf("%q: got %v, want a problem", text, err)
			} else if status := p.Code.Status(); status != 400 && status != 422 {
				t.Errorf("%q: %s has the status %d, want 400 or 422", text, p.Code, status)
			}
			return
		}
		drop := r.Method == schema.VerifyPennyDrop && r.Account != "" && r.IFSC != "" && r.VPA == ""
		address := r.Method == schema.VerifyUPI && r.Account == "" && r.IFSC == "" && r.VPA != ""
		switch {
		case !drop && !address:
			t.Errorf("%q: got %+v", text, r)
		case r.Tolerance < -1:
			t.Errorf("%q: r.Tolerance = %v, want at least %v", text, r.Tolerance, -1)
		case r.Tolerance > 100:
			t.Errorf("%q: r.Tolerance = %v, want at most 100", text, r.Tolerance)
		case !utf8.ValidString(r.Name) || r.RefID != "" && !schema.IsRef(r.RefID):
			t.Errorf("%q: got %+v", text, r)
		}
		if masked := r.Target(); drop && (strings.Contains(masked, r.Account) || len(masked) != len(r.Account)) || address && masked == r.VPA {
			t.Errorf("%q: it is masked as %q", text, masked)
		}
		if r.Caller != (httpapi.Who{}) || r.Owner != (schema.Owner{}) {
			t.Errorf("%q: a body says whose it is: %+v", text, r)
		}
	})
}
