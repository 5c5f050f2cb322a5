package objects

import "context"

type onceKey struct{}

// Once is ctx for reads of bytes that will not be read again, such as those that shards.Scan
// looks through. A [Store] that keeps copies, such as one with a cache, keeps none of them.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

// IsOnce reports whether [Once] has made ctx or one that ctx was made of.
func IsOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }
