package archive

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Create creates the bucket.
func (b *Bucket) Create(ctx context.Context) error {
	_, err := b.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &b.Name})
	return err
}

// SetTimeout limits the time of a small request.
func (b *Bucket) SetTimeout(d time.Duration) { b.timeouts.quiet = d }
