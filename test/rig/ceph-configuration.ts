/** Where a throw-away Ceph lives and what it listens on. */
export interface CephLayout {
  readonly folder: string;
  readonly fsid: string;
  readonly backing: 'memstore' | 'bluestore';
  readonly gatewayPort: number;
  readonly monitorPorts: { readonly v1: number; readonly v2: number };
}

/**
 * ceph.conf of one monitor, one OSD and one gateway. What makes it quick: the paxos intervals (start in 5 s in place of 15),
 * pools of size 1 with two placement groups and no autoscaler, `tcp_nodelay` (each Get waits 40 ms without). cephx stays
 * on: radosgw 16 never connects without.
 */
export function cephConfiguration({ folder, fsid, backing, gatewayPort, monitorPorts }: CephLayout): string {
  return `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPorts.v2},v1:127.0.0.1:${monitorPorts.v1}]
mon initial members = a
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 2
osd pool default pgp num = 2
osd pool default pg autoscale mode = off
mon allow pool size one = true
auth allow insecure global id reclaim = false
mon max pg per osd = 2000
paxos propose interval = 0.05
paxos min wait = 0.01
osd heartbeat grace = 120
mon data = ${folder}/mon
mon data avail warn = 1
mon data avail crit = 0
mon osd min in ratio = 0
osd data = ${folder}/osd
osd objectstore = ${backing}
memstore device bytes = 6442450944
bluestore block size = 10737418240
bluestore fsck on mount = false
osd memory target = 939524096
osd op threads = 2
run dir = ${folder}/run
admin socket = ${folder}/run/$cluster-$name.asok
log file = ${folder}/log/$name.log
pid file = ${folder}/run/$name.pid
crash dir = ${folder}/run
keyring = ${folder}/keyring
[client.rgw]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${gatewayPort} tcp_nodelay=1
rgw enable usage log = false
rgw enable ops log = false
rgw enable quota threads = false
rgw run sync thread = false
rgw thread pool size = 128
rgw override bucket index max shards = 1
`;
}
