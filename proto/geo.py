"Tables of the coset coordinates of the 3x3x3, from the geometry."
import itertools
import numpy as np
from math import comb
from cube_nb.cube.puzzle import get_puzzle
P = get_puzzle('cube3')
S = 54
face = np.arange(S)//9   # U R F D L B
UD = np.isin(face,[0,3]); FB = np.isin(face,[2,5])
kinds = {k.shape[1]: np.array(k) for k in P.pieces}
def roll_to(piece, score):
    i = int(np.argmax([score(f) for f in piece])); return np.roll(piece,-i)
corners = np.array([roll_to(p, lambda f: 1 if UD[f] else 0) for p in kinds[3]])   # U/D facelet first, clockwise
edges = np.array([roll_to(p, lambda f: 2 if UD[f] else (1 if FB[f] else 0)) for p in kinds[2]])
# order: U-layer corners first; edges: slice last
corners = corners[np.argsort([0 if face[p[0]]==0 else 1 for p in corners],kind='stable')]
edges = edges[np.argsort([0 if face[p[0]]==0 else (1 if face[p[0]]==3 else 2) for p in edges],kind='stable')]
ccode = np.full(S,-1); ecode=np.full(S,-1)
for i,p in enumerate(corners): ccode[p]=3*i+np.arange(3)
for i,p in enumerate(edges): ecode[p]=2*i+np.arange(2)
def to_codes(sig):   # sticker -> facelet ; (8,) (12,)
    return ccode[sig[corners[:,0]]], ecode[sig[edges[:,0]]]
# moves: state after move a: new = old[moves[a]]: sticker at facelet moves[a][f] goes to f
go = np.argsort(P.moves,axis=1)        # facelet -> facelet
cmove = np.empty((12,24),np.uint8); emove=np.empty((12,24),np.uint8)
for a in range(12):
    for c,f in enumerate(corners.ravel()): cmove[a,c]=ccode[go[a][f]]
    for c,f in enumerate(edges.ravel()): emove[a,c]=ecode[go[a][f]]
def sig_of(state): return np.argsort(P.sticker_identity(state[None])[0])
# symmetries as facelet permutations
syms=np.array(P.symmetries)
# which keep the U-D axis: U centre 4, D centre 31
def cen(s): return face[s[[4,13,22,31,40,49]]]
keep=[m for m in range(48) if set(s:=(syms[m][[4,31]]).tolist())=={4,31}]
assert len(keep)==16
keep=sorted(keep,key=lambda m:(not (syms[m]==np.arange(S)).all()))
# three axes: rotations taking R-axis / F-axis to UD axis
axes=[keep[0]]
for want in (13,22):
    axes.append(next(m for m in range(48) if syms[m][want] in (4,31) and syms[m][[4,13,22]].tolist()==[{4:syms[m][4]}[4],syms[m][13],syms[m][22]] and np.isin(syms[m][want],[4,31]) ))
def conj(m,sig):  # r sig r^-1 with r=syms[m] as facelet map
    r=syms[m]; out=np.empty_like(sig); out[r]=r[sig]; return out
BIN=np.zeros((13,13),np.int64)
for n in range(13):
    for k in range(n+1): BIN[n,k]=comb(n,k)
def ranks(n,k):
    out=np.full(1<<n,-1,np.int32); masks=[m for m in range(1<<n) if bin(m).count('1')==k]
    for i,m in enumerate(masks): out[m]=i
    return out,np.array(masks,np.int32)
rank8,mask8=ranks(8,4); rank12,mask12=ranks(12,4)
# how a piece code looks in a view: view m of piece i at code c -> piece j, code q
def view_codes(m):
    r=syms[m]
    cv=np.empty((8,24,2),np.int64); ev=np.empty((12,24,2),np.int64)
    for codes,pieces,w,out,n in ((ccode,corners,3,cv,8),(ecode,edges,2,ev,12)):
        for i in range(n):
            for c in range(24):
                # stickers of piece i: pieces[i][t] at facelet of code: position c//w, rolled by c%w
                pos,t0=divmod(c,w)
                at={pieces[i][t]: pieces[pos][(t0+t)%w] for t in range(w)}
                # in the view, sticker r[s] is at r[at]
                j=codes[r[pieces[i][0]]]//w
                ref=pieces[j][0]
                s=next(s for s in pieces[i] if r[s]==ref)
                out[i,c]=j,codes[r[at[s]]]
    return cv,ev
VIEWS={m:view_codes(m) for m in range(48)}
