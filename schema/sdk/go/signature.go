package vayu

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SignatureHeader carries the signature of a webhook.
const SignatureHeader = "X-SERVICE-Signature"

// requestSignature carries the signature of a request.
const requestSignature = "X-SERVICE-Request-Signature"

// SignatureTolerance is the largest difference between the time of a signature and the clock, in both directions.
const SignatureTolerance = 5 * time.Minute

// ErrSignature means that a webhook is not genuine, or its time is too far from the clock. Reply 400 and discard it.
var ErrSignature = errors.New("vayu: invalid signature")

// Event is the body of a webhook. Later versions can add types and fields.
type Event struct {
	ID         string          `json:"id"` // the same in every delivery of the event
	Type       string          `json:"type"`
	Created    int64           `json:"created"` // Unix seconds
	APIVersion string          `json:"api_version"`
	Data       json.RawMessage `json:"data"`
}

// VerifyWebhook verifies a webhook and returns its event. `body` is the body as received, and `header` has the headers
// of the request. During a rotation, pass both secrets: the service may have signed with either of them. An invalid
// signature yields [ErrSignature], and a signed body that is not JSON yields another error.
func VerifyWebhook(body []byte, header http.Header, now time.Time, secrets ...string) (Event, error) {
	var stamp string
	var signatures [][]byte
	for item := range strings.SplitSeq(strings.Join(header.Values(SignatureHeader), ","), ",") {
		name, value, _ := strings.Cut(item, "=")
		switch name {
		case "t":
			if stamp != "" {
				return Event{}, fmt.Errorf("%w: it has two times", ErrSignature)
			}
			stamp = value
		case "v1":
			if signature, err := hex.DecodeString(value); err == nil {
				signatures = append(signatures, signature)
			}
		}
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return Event{}, fmt.Errorf("%w: it has no time", ErrSignature)
	}
	if age := now.Sub(time.Unix(at, 0)); age.Abs() > SignatureTolerance {
		return Event{}, fmt.Errorf("%w: it is too old, or from the future", ErrSignature)
	}
	genuine := false
	for _, secret := range secrets {
		if secret == "" {
			return Event{}, fmt.Errorf("%w: a secret is empty", ErrSignature)
		}
		want := mac(secret, stamp+".", body)
		for _, signature := range signatures {
			genuine = genuine || hmac.Equal(signature, want)
		}
	}
	if !genuine {
		return Event{}, fmt.Errorf("%w: it matches no secret", ErrSignature)
	}
	var event Event
	if err := json.Unmarshal(body, &event); err != nil {
		return Event{}, fmt.Errorf("vayu: decoding the event: %w", err)
	}
	return event, nil
}

func mac(secret, head string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	_, _ = h.Write([]byte(head)) // never fails
	_, _ = h.Write(body)
	return h.Sum(nil)
}

// signedFor is how long the signer remembers a used signature. The service rejects older signatures anyway.
const signedFor = 10 * time.Minute

// signer signs requests of a key that requires signatures. The service accepts each signature once. The signer
// therefore gives equal requests different times, so that their signatures differ.
type signer struct {
	mu   sync.Mutex
	used map[string]int64 // Unix time of each used signature
}

func (s *signer) sign(secret string, q *http.Request, body []byte, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[string]int64{}
	}
	for signature, t := range s.used {
		if t < now.Add(-signedFor).Unix() {
			delete(s.used, signature)
		}
	}
	rest := fmt.Sprintf("%s\n%s\n%s\n%s\n", q.Method, q.URL.RequestURI(), q.Header.Get("Idempotency-Key"), q.Header.Get("X-SERVICE-Version"))
	for t := now.Unix(); ; t-- {
		signature := hex.EncodeToString(mac(secret, fmt.Sprintf("v2\n%d\n%s", t, rest), body))
		if _, used := s.used[signature]; !used {
			s.used[signature] = t
			return fmt.Sprintf("t=%d,v2=%s", t, signature)
		}
	}
}
