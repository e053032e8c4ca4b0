package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Scrubber replaces secrets, serial numbers and personal addresses in replies with placeholders. A value has the same
// placeholder everywhere, so that different pages and stations stay different.
type Scrubber struct {
	// Replaced counts the replaced values by the name of the field that had them.
	Replaced map[string]int

	placeholders map[string]string // placeholder of each replaced value
	numbers      map[string]int    // largest number in a placeholder, by its kind
}

// Kinds of placeholders.
const (
	secret = "secret"
	serial = "serial"
	person = "person"
)

// kinds maps names of fields to the kind of their placeholders. The names are in lower case, without separators.
var kinds = map[string]string{
	"auth": secret, "authorization": secret, "passwd": secret, "pwd": secret, "session": secret, "sessionid": secret, "privatekey": secret,
	"accesskey": secret, "appkey": secret, "readkey": secret, "writekey": secret, "subscriptionkey": secret,
	"primarykeya": secret, "primarykeyb": secret, "secondarykeya": secret, "secondarykeyb": secret, // ThingSpeak's keys at PurpleAir
	"serial": serial, "serialno": serial, "serialnumber": serial, "deviceserial": serial, "sn": serial, "hardwareid": serial,
	"mac": serial, "macaddress": serial, "macid": serial, "imei": serial, "imsi": serial, "iccid": serial, "ssid": serial, "bssid": serial,
	"ip": serial, "ipaddress": serial,
	"email": person, "owneremail": person, "phone": person, "mobile": person, "contact": person, "contactname": person,
}

// pageWords are the beginnings of names of fields with page tokens. Page tokens are no secrets, although their names
// end in "token".
var pageWords = []string{"next", "page", "cursor", "continuation", "prev"}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// kindOf returns the kind of placeholder for a field of this name, or "" if the field is not replaced.
func kindOf(name string) string {
	name = separators.Replace(strings.ToLower(name))
	if kind := kinds[name]; kind != "" {
		return kind
	}
	for _, word := range pageWords {
		if strings.HasPrefix(name, word) {
			return ""
		}
	}
	for _, ending := range []string{"token", "apikey", "secret", "password"} {
		if strings.HasSuffix(name, ending) {
			return secret
		}
	}
	return ""
}

// isSecret reports whether a field of this name holds a secret.
func isSecret(name string) bool { return kindOf(name) == secret }

// patterns find MAC and e-mail addresses, which are replaced in any field.
var patterns = map[string]*regexp.Regexp{
	serial: regexp.MustCompile(`\b[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}\b`),
	person: regexp.MustCompile(`\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b`),
}

// The placeholder of a number is a number above firstNumber, so that the type of the field stays the same.
const firstNumber = 1_000_000

// leastReplaced is the minimum length of values to replace outside their own field. Shorter ones can occur by chance.
const leastReplaced = 6

// Learn finds the values in a body that must be replaced, and assigns their placeholders.
func (s *Scrubber) Learn(body []byte) {
	_ = eachScalar(body, func(name string, value jsontext.Value) []byte {
		kind := kindOf(name)
		if text := scalarText(value); kind != "" && text != "" {
			s.placeholder(kind, text)
		}
		return nil
	}) // the error is ignored: if the body is not JSON, only patterns can be found
	for _, kind := range []string{serial, person} {
		for _, found := range patterns[kind].FindAllString(string(body), -1) {
			s.placeholder(kind, found)
		}
	}
}

// placeholder returns the placeholder of a value.
func (s *Scrubber) placeholder(kind, value string) string {
	if known := s.placeholders[value]; known != "" {
		return known
	}
	if s.placeholders == nil {
		s.placeholders, s.numbers = make(map[string]string), make(map[string]int)
	}
	s.numbers[kind]++
	s.placeholders[value] = fmt.Sprintf("%s-%d", kind, s.numbers[kind])
	if strings.Trim(value, "0123456789") == "" { // a number stays a number
		s.placeholders[value] = strconv.Itoa(firstNumber + len(s.placeholders))
	}
	return s.placeholders[value]
}

// Body replaces values in a body with placeholders: strings and numbers in fields that have a kind (see kindOf), and
// what [Scrubber.Text] replaces. The rest of the body is unchanged.
func (s *Scrubber) Body(body []byte) []byte {
	var out bytes.Buffer
	at := 0
	err := eachScalar(body, func(name string, value jsontext.Value) []byte {
		text := scalarText(value)
		if kindOf(name) == "" || text == "" {
			return nil
		}
		s.count(name)
		known := s.placeholder(kindOf(name), text)
		if value.Kind() == '0' && known[0] <= '9' {
			return []byte(known)
		}
		return []byte(`"` + known + `"`)
	}, func(start, end int, replacement []byte) {
		out.Write(body[at:start])
		out.Write(replacement)
		at = end
	})
	if err != nil {
		out.Reset()
		at = 0
	}
	out.Write(body[at:])
	return []byte(s.Text(out.String()))
}

func (s *Scrubber) count(name string) {
	if s.Replaced == nil {
		s.Replaced = make(map[string]int)
	}
	s.Replaced[name]++
}

// Text returns a text in which placeholders replace the values that Learn has found. Values of fewer than leastReplaced
// bytes stay, and so do values within a longer word or number.
func (s *Scrubber) Text(text string) string {
	values := make([]string, 0, len(s.placeholders))
	for value := range s.placeholders {
		if len(value) >= leastReplaced {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { // longer values first, because they may contain shorter ones
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	for _, value := range values {
		text = s.replaceWord(text, value)
	}
	return text
}

// replaceWord replaces a value, except within a longer word or number.
func (s *Scrubber) replaceWord(text, value string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, value)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		end := at + len(value)
		out.WriteString(text[:at])
		if at > 0 && isWord(text[at-1]) || end < len(text) && isWord(text[end]) {
			out.WriteString(value)
		} else {
			s.count("other fields")
			out.WriteString(s.placeholders[value])
		}
		text = text[end:]
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.'
}

// scalarText returns the text of a string or number, or "" for other values.
func scalarText(value jsontext.Value) string {
	switch value.Kind() {
	case '"':
		var text string
		if json.Unmarshal(value, &text) != nil {
			return ""
		}
		return text
	case '0':
		return string(value)
	}
	return ""
}

// eachScalar calls `visit` with each scalar of a JSON text and its name. Elements of a list have the list's name. If
// `visit` returns a text, eachScalar calls `replace`, if given, with this text and the position of the value.
func eachScalar(body []byte, visit func(name string, value jsontext.Value) []byte, replace ...func(start, end int, replacement []byte)) error {
	in := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		switch in.PeekKind() {
		case '{', '}', '[', ']':
			if _, err := in.ReadToken(); err != nil {
				return err
			}
			continue
		case 0:
			_, err := in.ReadToken()
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		kind, length := in.StackIndex(in.StackDepth())
		isName := kind == '{' && length%2 == 0
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		if isName {
			continue
		}
		end := int(in.InputOffset())
		if with := visit(nameAt(in.StackPointer()), value); with != nil && len(replace) > 0 {
			replace[0](end-len(value), end, with)
		}
	}
}

// nameAt returns the last name in a JSON pointer. It skips the indices of lists.
func nameAt(pointer jsontext.Pointer) string {
	for pointer != "" {
		last := pointer.LastToken()
		if strings.Trim(last, "0123456789") != "" {
			return last
		}
		pointer = pointer.Parent()
	}
	return ""
}
