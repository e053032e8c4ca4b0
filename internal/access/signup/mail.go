package signup

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"vayu/internal/mail"
	"vayu/internal/sqlstore"
)

const (
	// eraseLease is the time after which a failed erasure is repeated.
	eraseLease = time.Hour
	group      = 100 // rows per query
)

//go:embed mail.txt
var text string

// Run sends due mails and erases expired accounts until ctx ends.
func (s *Service) Run(ctx context.Context) error { return s.mails.Run(ctx) }

// due returns the mails of the sign-ups that are due, except those whose link has expired.
func (s *Service) due(view sqlstore.View, now time.Time, limit int) ([]mail.Message, error) {
	return sqlstore.All(view, func(row sqlstore.Scanner) (mail.Message, error) {
		var p pending
		err := row.Scan(&p.account, &p.email, &p.created)
		return mail.Message{
			ID: p.account, To: p.email, Subject: "Vayu: confirm your e-mail address · ई-मेल पते की पुष्टि करें",
			Text: strings.ReplaceAll(text, "LINK", s.BaseURL()+"/dashboard/signup/confirm#"+s.token(p)),
		}, err
	}, "SELECT account_id, email, created_at FROM signup WHERE mail_due_at <= $1 AND created_at > $2 ORDER BY mail_due_at LIMIT $3",
		now.UnixMicro(), now.Add(-linkLife).UnixMicro(), limit)
}

// eraseExpired erases at most `group` accounts whose address was not confirmed in time, and deletes expired invites.
func (s *Service) eraseExpired(ctx context.Context) error {
	now := s.Now()
	expired, err := sqlstore.All(s.DB.View(ctx), sqlstore.Scalar[string], "SELECT account_id FROM signup WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2", now.UnixMicro(), group)
	if err != nil {
		return fmt.Errorf("reading expired sign-ups: %w", err)
	}
	for _, id := range expired {
		claimed, err := s.mails.Claim(ctx, "expires_at", id, now, eraseLease)
		if err == nil && claimed {
			if err = s.Erase(ctx, id); err == nil {
				s.count("erased")
				err = s.Mail.Remove(id)
			}
		}
		if err != nil {
			return err
		}
	}
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec("DELETE FROM signup_invite WHERE expires_at <= $1", now.UnixMicro())
		return err
	})
}
