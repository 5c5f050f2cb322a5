// Checks grafana.json against the types of Grafana's own package, which know every field:
//
//	npm install --prefix DIR --ignore-scripts @grafana/schema@13.2.3 typescript@5.9.3
//	node loader/otel/testdata/schema.mjs DIR
import {readFileSync, writeFileSync} from 'node:fs';
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';

const dir = process.argv[2];
const dashboard = JSON.parse(readFileSync(new URL('../grafana.json', import.meta.url)));
const panels = './node_modules/@grafana/schema/dist/types/raw/composable';
const lines = [
	"import type {Dashboard, GraphFieldConfig} from '@grafana/schema';",
	`import type {Options as timeseries} from '${panels}/timeseries/panelcfg/x/types.gen';`,
	`import type {Options as stat} from '${panels}/stat/panelcfg/x/types.gen';`,
	// The types have enums, JSON has their texts.
	'type J<T> = T extends string ? `${T}` : T extends (infer U)[] ? J<U>[] : T extends object ? {[K in keyof T]: J<T[K]>} : T;',
	`export const dashboard: J<Dashboard> = ${JSON.stringify(dashboard)};`,
];
for (const p of dashboard.panels.filter((p) => p.type !== 'row')) {
	lines.push(`export const options${p.id}: J<${p.type}> = ${JSON.stringify(p.options)};`);
	if (p.type === 'timeseries') {
		lines.push(`export const custom${p.id}: J<GraphFieldConfig> = ${JSON.stringify(p.fieldConfig.defaults.custom)};`);
	}
}
writeFileSync(join(dir, 'check.ts'), lines.join('\n'));
const tsc = spawnSync('node_modules/.bin/tsc', ['--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', 'check.ts'], {cwd: dir, stdio: 'inherit'});
process.exit(tsc.status ?? 1);
