package httpconnector

import (
	"errors"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"vayu/schema"
)

// ErrOther says that an answer is about something else than what was asked.
var ErrOther = errors.New("the answer is about another reference")

// About is ErrOther when the reply repeats a field with another value than it was
// asked with. A connection that is used for one request after the other can bring an
// answer twice; whoever repeats the reference in answers is safe from that.
func (r Reply) About(field, asked string) error {
	if echo, said := r.Fields[field]; said && echo != asked {
		return ErrOther
	}
	return nil
}

// Refusal is the reply to a request that Receive has not taken, without a word of it.
func Refusal(err error) *schema.Problem {
	switch {
	case errors.Is(err, ErrNoSignature):
		return schema.Refuse(schema.SignatureRequired, "", "The request must be signed.")
	case errors.Is(err, ErrStale):
		return schema.Refuse(schema.SignatureInvalid, "", "The signature is too old, or of the future.")
	case errors.Is(err, ErrSignature):
		return schema.Refuse(schema.SignatureInvalid, "", "The signature is not that of the body.")
	}
	return schema.Refuse(schema.InvalidRequest, "", "The body is not what was agreed: it needs a reference, and a status that is known.")
}

// longestReference is how long a name of an upstream's may be: theirs have some twenty
// characters. The store cuts off what is longer, and half a name is another.
const longestReference = 100

// Name is what an upstream calls something, for its and our records; empty when that
// is longer than 100 bytes, or not of printable ASCII without blanks.
func Name(theirs string) string {
	if len(theirs) > longestReference {
		return ""
	}
	for _, c := range []byte(theirs) {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	return theirs
}

// Line is a text of an upstream's as one line that people can be shown: in NFC, with
// single blanks, without what cannot be printed or changes the direction of what
// stands around it, and shortened to most characters.
func Line(theirs string, most int) string {
	var last rune
	theirs = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case isJoiner(r) && unicode.Is(unicode.Mn, last): // after a virama it is how the word is written
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		last = r
		return r
	}, theirs)
	theirs = norm.NFC.String(strings.Join(strings.Fields(theirs), " "))
	if runes := []rune(theirs); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return theirs
}

// isJoiner says whether a character joins two others or keeps them apart, as the
// scripts of India need it.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }
