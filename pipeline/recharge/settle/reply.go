package settle

import (
	"strings"
	"time"
	"unicode/utf8"

	"vayu/internal/sqlstore"
)

// sentAt returns the start of the submit call that has ended; zero for other calls. It replaces the estimate in the
// row: during a submit call, the row has the latest time at which the call can start.
func (st *transitionTx) sentAt() time.Time {
	if st.result.Call != CallSubmit {
		return time.Time{}
	}
	return sqlstore.TruncateMicros(st.result.CalledAt)
}

func (st *transitionTx) setSentAt() {
	if at := st.sentAt(); !at.IsZero() {
		st.out.SentAt = at
	}
}

// copyReferences copies the provider's reference and circle from the result.
func (st *transitionTx) copyReferences() {
	if st.result.Err != nil {
		return
	}
	if ref := CleanText(st.result.ProviderRef); ref != "" {
		st.out.ProviderRef = ref
	}
	if circle := CleanText(st.result.Circle); circle != "" {
		st.out.Circle = circle
	}
}

// longestProviderText bounds the stored texts of a provider, in bytes.
const longestProviderText = 100

// CleanText removes the control characters below U+0020 and invalid UTF-8 from a provider's
// text, and truncates the text to longestProviderText.
func CleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), longestProviderText)], "")
}
