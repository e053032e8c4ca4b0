package access

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/access/apikey"
	"vayu/internal/access/signature"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
)

// verifySignature checks the signature of a call if its key requires one. Each signature is accepted only once,
// even after a restart or by another instance.
func (s *Service) verifySignature(c *httpapi.Call, k *cachedKey) error {
	if !k.requireSignature {
		return nil
	}
	values := c.Header[signature.Header]
	if len(values) == 0 {
		return signature.ErrRequired
	}
	sent, ok := signature.Parse(values[0])
	if len(values) > 1 || !ok {
		return signature.ErrForm
	}
	window := int64(signature.Window / time.Second)
	if age := s.Now().Unix() - sent.Unix; age < -window || age > window {
		return signature.ErrStale
	}
	secret, err := apikey.SigningSecret.Decrypt(s.Cipher, k.signingSecret, k.id)
	if err != nil {
		return fmt.Errorf("decrypting the signing secret of %s: %w", k.id, err)
	}
	if !sent.Signs(c, secret) {
		return signature.ErrWrong
	}
	return s.spend(c.Context(), k.id, sent, time.Unix(sent.Unix+window+1, 0))
}

// spend stores a signature as used, and fails if the signature was used before. The row may be deleted after the time
// `until`, when the time of the signature is outside the window.
func (s *Service) spend(ctx context.Context, key string, sent signature.Signature, until time.Time) error {
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, $3) ON CONFLICT (key_id, signature) DO NOTHING",
			key, sent.MAC[:], until.UnixMicro())
		if err != nil {
			return fmt.Errorf("storing a signature: %w", err)
		}
		if n == 0 {
			return signature.ErrSeen
		}
		return nil
	})
}

// Verify checks the signature of a call if its key requires one. It implements httpapi.Pass.
func (p *pass) Verify(c *httpapi.Call) error {
	if c.BySession { // a session was created by a signed call or with a mailed link, and its calls need no signature
		return nil
	}
	err := p.service.verifySignature(c, p.key)
	if err != nil {
		p.service.metrics.refusedBy(err)
		return err
	}
	p.unsigned = false
	return nil
}
